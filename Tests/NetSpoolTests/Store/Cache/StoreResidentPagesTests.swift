import Testing

@testable import NetSpool
@testable import TestSupport

struct StoreResidentPagesTests {
  static let limit = 1 << 20

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `the pages of the file stay within their limit`() throws {
    // Given a store of over 30 MiB
    let directory = try TestFolder()
    let keys = (0..<3_000).map { StoreKey("key \($0)") }
    let store = try directory.open { $0.residentBytesMax = Self.limit }
    for key in keys { store.put(key, namespace: "n", metadata: [], body: pattern(1, count: 8_000)) }
    store.flush()
    // Then what writing it left in memory is little
    #expect(MemoryUse.ofMapping(directory["data.mdb"]) <= 2 * Self.limit)
    // And so it stays while every body is read
    var peak = 0
    for (number, key) in keys.enumerated() {
      #expect(store.lookup(key)?.bytes.count == 8_000)
      if number % 50 == 0 { peak = max(peak, MemoryUse.ofMapping(directory["data.mdb"])) }
    }
    #expect(peak > 0 && peak <= 2 * Self.limit)
  }

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `the pages of the file are given back when memory is short`() async throws {
    let (directory, store, before) = try filled()
    #expect(before > 6 << 20)
    // When it gets short
    try TestFiles.write(Self.pressure("12.50"), to: directory["pressure"])
    // Then they are given back, though the store is in use, which finds all that it had
    #expect(
      await until {
        _ = store.lookup(Self.keys[0])
        return MemoryUse.ofMapping(directory["data.mdb"]) <= before / 2
      })
    #expect(Self.keys.allSatisfy { store.lookup($0)?.bytes == pattern(1, count: 8_000) })
  }

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `a store that nothing asks for gives its pages back as well`() async throws {
    let (directory, store, before) = try filled()
    // Given a store thread that has looked at all that was done, and sleeps
    #expect(await until { store.core.views.withLock { $0.current == nil } })
    #expect(MemoryUse.ofMapping(directory["data.mdb"]) > before / 2)
    // When memory gets short
    try TestFiles.write(Self.pressure("12.50"), to: directory["pressure"])
    #expect(await until { MemoryUse.ofMapping(directory["data.mdb"]) <= before / 2 })
    _ = store
  }

  @Test(arguments: [
    (
      "some avg10=9.99 avg60=50.00 avg300=0.08 total=1\nfull avg10=80.00 avg60=0.00 avg300=0.02 total=1\n",
      false
    ),
    ("some avg10=10.00 avg60=0.00 avg300=0.00 total=1\n", true), ("some avg10=100.00\n", true),
    ("full avg10=90.00 avg60=0.00\n", false), ("", false), ("some avg10=x\n", false),
  ])
  func `pressure is what some task felt in the last ten seconds`(_ text: String, isHigh: Bool) throws {
    let directory = try TestFolder()
    #expect(!MemoryPressure.isHigh(directory["pressure"]))
    try TestFiles.write(Array(text.utf8), to: directory["pressure"])
    #expect(MemoryPressure.isHigh(directory["pressure"]) == isHigh)
  }

  private static let keys = (0..<1_000).map { StoreKey("key \($0)") }

  /// A store of some MiB whose pages are in memory, of which there is plenty, and how many bytes of them.
  private func filled() throws -> (TestFolder, CacheStore, Int) {
    let directory = try TestFolder()
    try TestFiles.write(Self.pressure("0.00"), to: directory["pressure"])
    let store = try directory.open { $0.pressurePath = directory["pressure"] }
    for key in Self.keys { store.put(key, namespace: "n", metadata: [], body: pattern(1, count: 8_000)) }
    store.flush()
    for key in Self.keys { #expect(store.lookup(key)?.bytes.count == 8_000) }
    return (directory, store, MemoryUse.ofMapping(directory["data.mdb"]))
  }

  private static func pressure(_ percent: String) -> [UInt8] {
    Array("some avg10=\(percent) avg60=0.00 avg300=0.00 total=1\n".utf8)
  }
}
