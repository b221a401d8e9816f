import NetSpoolCore
import Testing

struct CacheStoreTests {
  static let sizes = [0, 1, 1_023, 1_024, 1_025, 2_047, 2_048, 4_080, 4_081, 8_176, 8_192, 100_000, 1 << 20]

  @Test(arguments: sizes)
  func whatIsPutIsFoundBeforeAndAfterTheCommitAndAfterReopening(size: Int) throws {
    // Given a store
    let directory = try StoreDirectory()
    let store = try directory.open()
    let body = pattern(size, count: size)
    // When something is put into it
    #expect(store.put(StoreKey("a"), namespace: "n", metadata: [1, 2, 3], body: body))
    // Then it is found at once
    let hit = try #require(store.lookup(StoreKey("a")))
    #expect(hit.bytes == body && hit.metadata == [1, 2, 3])
    // And after it is written
    store.flush()
    let written = try #require(store.lookup(StoreKey("a")))
    #expect(written.bytes == body && written.metadata == [1, 2, 3] && written.bodyID == hit.bodyID)
    // And when the store is opened again
    store.close()
    let again = try directory.open()
    #expect(again.opening.found == .whole)
    let read = try #require(again.lookup(StoreKey("a")))
    #expect(read.bytes == body && read.metadata == [1, 2, 3])
    #expect(again.lookup(StoreKey("b")).isMissing)
  }

  @Test func aLaterPutTakesTheEarlierOnesPlace() throws {
    let directory = try StoreDirectory()
    let store = try directory.open()
    for round in 0..<20 {
      store.put(
        StoreKey("a"), namespace: "n", metadata: [UInt8(round)], body: pattern(round, count: round * 700))
      if round % 3 == 0 { store.flush() }
      #expect(store.lookup(StoreKey("a"))?.bytes == pattern(round, count: round * 700))
    }
    store.flush()
    #expect(store.lookup(StoreKey("a"))?.metadata == [19])
    #expect(store.statistics.entries == 1)
  }

  @Test func whatIsRemovedIsGoneAtOnce() throws {
    let directory = try StoreDirectory()
    let store = try directory.open()
    for isWritten in [false, true] {
      store.put(StoreKey("a"), namespace: "n", metadata: [], body: pattern(1, count: 5_000))
      if isWritten { store.flush() }
      store.remove(StoreKey("a"))
      #expect(store.lookup(StoreKey("a")).isMissing)
      store.flush()
      #expect(store.lookup(StoreKey("a")).isMissing)
    }
    #expect(store.statistics.entries == 0)
  }
}
