/// How short of memory the system is, as the kernel says (Documentation/accounting/psi.rst). The file is readable by all
/// where there is one; where there is none, nothing is short.
enum MemoryPressure {
  static let path = "/proc/pressure/memory"
  /// In this part of the last ten seconds, in percent, some task waited for memory.
  static let percentMax = 10.0

  static func isHigh(_ path: String = path) -> Bool { percent(path).map { $0 >= percentMax } ?? false }

  /// The average of ten seconds; nil when the file does not say.
  static func percent(_ path: String) -> Double? {
    guard let line = SystemText.read(path)?.split(separator: "\n").first(where: { $0.hasPrefix("some ") })
    else {
      return nil
    }
    let word = line.split(separator: " ").first { $0.hasPrefix("avg10=") }
    return word.flatMap { Double($0.dropFirst(6)) }
  }
}
