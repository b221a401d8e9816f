import Testing

@testable import NetSpool
@testable import TestSupport

struct StoreResidenceTests {
  static let limit = 1 << 20

  @Test(.disabled(if: isSanitized, "memory is no measure under a sanitizer"))
  func `the pages of the file stay within their limit`() throws {
    // Given a store of over 30 MiB
    let directory = try TestFolder()
    let keys = (0..<3_000).map { StoreKey("key \($0)") }
    let store = try directory.open { $0.residentBytesMax = Self.limit }
    for key in keys { store.put(key, namespace: "n", metadata: [], body: pattern(1, count: 8_000)) }
    store.flush()
    // Then what writing it left in memory is little
    #expect(MemoryUse.ofMapping(directory.dataPath) <= 2 * Self.limit)
    // And so it stays while every body is read
    var peak = 0
    for (number, key) in keys.enumerated() {
      #expect(store.lookup(key)?.bytes.count == 8_000)
      if number % 50 == 0 { peak = max(peak, MemoryUse.ofMapping(directory.dataPath)) }
    }
    #expect(peak > 0 && peak <= 2 * Self.limit)
  }
}
