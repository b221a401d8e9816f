import Glibc

/// Keeps what is resident small: a job must fit beside others, and most of a tool is its libraries.
enum ResidentMemory {
  /// Gives back the pages of program files that only the start needed; those that are needed again come back
  /// from the system's page cache. Not those that were changed in memory, such as relocated tables.
  static func shrink() {
    for range in cleanRanges(lines(of: "/proc/self/smaps")) {
      _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// The addresses of the mappings of smaps in proc(5) that are a file's, cannot be written and hold no page of
  /// the process's own, in memory or swapped out. Each begins with a line such as
  /// `7f00-7f10 r-xp 00001000 fe:00 42 /usr/lib/libc.so.6`; lines such as `Anonymous: 0 kB` follow.
  static func cleanRanges(_ lines: [Substring]) -> [Range<UInt>] {
    var ranges: [Range<UInt>] = []
    var own: Set<Substring> = ["Anonymous:", "Swap:"]
    var current: Range<UInt>?
    for line in lines {
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard let first = fields.first else { continue }
      if !first.hasSuffix(":") {
        (current, own) = (fileRange(fields), ["Anonymous:", "Swap:"])
      } else if fields.count > 1, fields[1] == "0", own.remove(first) != nil, own.isEmpty, let range = current
      {
        ranges.append(range)
      }
    }
    return ranges
  }

  private static func fileRange(_ fields: [Substring]) -> Range<UInt>? {
    guard fields.count == 6, ["r-xp", "r--p"].contains(fields[1]),
      fields[5].drop(while: { $0 == " " }).hasPrefix("/")
    else { return nil }
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
