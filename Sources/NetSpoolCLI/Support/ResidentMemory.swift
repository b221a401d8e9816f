import Glibc

/// Keeps what is resident small: a job must fit beside others, and most of a tool is its libraries.
enum ResidentMemory {
  /// Gives back the pages of program code that only the start needed; those that are needed again come back
  /// from the system's page cache. Not for code that was changed in memory, which there is none of.
  static func shrink() {
    for line in lines(of: "/proc/self/maps") {
      guard let range = codeRange(line) else { continue }
      _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// The addresses of a line such as `7f00-7f10 r-xp 00001000 fe:00 42 /usr/lib/libc.so.6`; nil for anything that
  /// is not a file's code.
  static func codeRange(_ line: Substring) -> Range<UInt>? {
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    guard fields.count == 6, fields[1] == "r-xp", fields[5].drop(while: { $0 == " " }).hasPrefix("/") else {
      return nil
    }
    let ends = fields[0].split(separator: "-")
    guard ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16),
      start < end
    else { return nil }
    return start..<end
  }

  private static func lines(of path: String) -> [Substring] {
    guard let file = try? Descriptor(opening: path, O_RDONLY) else { return [] }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
    while let count = try? file.read(into: &buffer, at: 0, count: buffer.count), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }
}
