import Glibc

/// What this process has in RAM, in bytes, as proc(5) tells it.
enum MemoryUse {
  static var resident: Int { status("VmRSS:") }

  /// The part that belongs to files.
  static var ofFiles: Int { status("RssFile:") }

  /// The part that belongs to none.
  static var anonymous: Int { status("RssAnon:") }

  /// The most it ever was since `forgetPeak`.
  static var peak: Int { status("VmHWM:") }

  /// Sets the peak to what is resident now (clear_refs).
  static func forgetPeak() { try? TestFiles.write(Array("5".utf8), to: "/proc/self/clear_refs") }

  /// What is in RAM of one mapped file (smaps).
  static func ofMapping(_ path: String) -> Int {
    guard let text = try? TestFiles.text("/proc/self/smaps") else { return .max }
    let (digits, ending) = (UInt8(ascii: "0")...UInt8(ascii: "9"), Array(" \(path)".utf8))
    var (isOurs, kibibytes) = (false, 0)
    // By bytes: there are thousands of lines, and tests ask often.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      // A mapping begins with its address, in small letters; what is said of it with a capital.
      if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
        isOurs = line.suffix(ending.count).elementsEqual(ending)
      } else if isOurs, line.starts(with: "Rss:".utf8) {
        kibibytes += line.reduce(0) { digits.contains($1) ? $0 * 10 + Int($1 - digits.lowerBound) : $0 }
      }
    }
    return kibibytes << 10
  }

  private static func status(_ name: String) -> Int {
    let text = (try? TestFiles.text("/proc/self/status")) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let words = line?.split(whereSeparator: \.isWhitespace) ?? []
    return words.count > 1 ? (Int(words[1]) ?? 0) << 10 : 0
  }
}

/// The process's time on the CPU, in seconds.
func cpuSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
