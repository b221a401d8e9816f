import Glibc
import Testing

@testable import NetSpool

struct StoreResidenceTests {
  static let limit = 1 << 20

  @Test(.disabled(if: isSanitized, "memory is no measure under a sanitizer"))
  func `the pages of the file stay within their limit`() throws {
    // Given a store of over 30 MiB
    let directory = try StoreDirectory()
    let keys = (0..<3_000).map { StoreKey("key \($0)") }
    let store = try directory.open { $0.residentBytesMax = Self.limit }
    for key in keys { store.put(key, namespace: "n", metadata: [], body: pattern(1, count: 8_000)) }
    store.flush()
    // Then what writing it left in memory is little
    #expect(residentBytes(directory.dataPath) <= 2 * Self.limit)
    // And so it stays while every body is read
    var peak = 0
    for (number, key) in keys.enumerated() {
      #expect(store.lookup(key)?.bytes.count == 8_000)
      if number % 50 == 0 { peak = max(peak, residentBytes(directory.dataPath)) }
    }
    #expect(peak > 0 && peak <= 2 * Self.limit)
  }

  /// What this process has in memory of a mapped file (proc(5), smaps).
  private func residentBytes(_ path: String) -> Int {
    guard let file = unsafe fopen("/proc/self/smaps", "r") else { return .max }
    defer { unsafe fclose(file) }
    var (line, isOurs, kibibytes) = ([CChar](repeating: 0, count: 8_192), false, 0)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let words = text.split(whereSeparator: \.isWhitespace)
      if words.first?.contains("-") == true { isOurs = words.last.map(String.init) == path }
      if isOurs, words.first == "Rss:", words.count > 1 { kibibytes += Int(words[1]) ?? 0 }
    }
    return kibibytes << 10
  }
}
