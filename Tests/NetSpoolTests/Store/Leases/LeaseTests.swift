import Testing

@testable import NetSpool
@testable import TestSupport

/// Bodies that are held while the store goes on.
struct LeaseTests {
  private func put(_ store: CacheStore, _ numbers: Range<Int>, size: Int = 8_000) {
    for number in numbers {
      store.put(
        StoreKey("\(number % 50)"), namespace: "n", metadata: [UInt8(number % 256)],
        body: pattern(number, count: size))
    }
    store.flush()
  }

  @Test(arguments: [Microseconds(0), 2_000_000])
  func `held bodies stay the same while thousands are put`(leaseMax: Microseconds) throws {
    // Given a small store and leases on all it holds
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      $0.bytesMax = 2 << 20
      $0.fileBytesMax = 8 << 20
      $0.leaseMax = leaseMax
    }
    put(store, 0..<50)
    let held = try (0..<50).map { try #require(store.lookup(StoreKey("\($0)"))) }
    #expect(store.statistics.leases == 50)
    // When everything is replaced many times
    for round in 1...60 { put(store, round * 50..<round * 50 + 50) }
    store.removeAll(namespace: "n")
    // Then the leases still show what they showed, metadata as well
    for (number, hit) in held.enumerated() {
      #expect(hit.bytes == pattern(number, count: 8_000) && hit.metadata == [UInt8(number)])
    }
    #expect(store.statistics.fileBytes <= 8 << 20)
  }

  @Test func `a span held for long is copied, or pins where there is no room for a copy`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      $0.leaseMax = 0
      $0.copiedBytesMax = 9_000
    }
    put(store, 0..<3)
    let first = try #require(store.lookup(StoreKey("0"))).body
    put(store, 3..<6)
    let second = try #require(store.lookup(StoreKey("4"))).body
    // Given two spans from different states of the store, of which only one may be copied
    let (one, two) = (first.rawBytes, second.rawBytes)
    for round in 1...20 { put(store, round * 50..<round * 50 + 50) }
    #expect([UInt8](one) == pattern(0, count: 8_000) && [UInt8](two) == pattern(4, count: 8_000))
    #expect(store.statistics.snapshots <= 2 && store.statistics.copiedBytes <= 9_000)
  }

  @Test func `a body is copied once, however many hold it`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.leaseMax = 0 }
    put(store, 0..<10, size: 1 << 20)
    // Given a thousand holders of ten bodies of 1 MiB, some of whom have asked for one piece
    let held = try (0..<1_000).map { try #require(store.lookup(StoreKey("\($0 % 10)"))) }
    for hit in held.prefix(500) { #expect(hit.body.rawBytes.byteCount == 1 << 20) }
    // When the store goes on
    put(store, 10..<20, size: 1_000)
    put(store, 20..<30, size: 1_000)
    // Then there are ten copies
    #expect(store.statistics.copiedBytes <= 10 * ((1 << 20) + 64))
    let patterns = (0..<10).map { pattern($0, count: 1 << 20) }
    #expect(held.enumerated().allSatisfy { $1.body.rawBytes.isEqual(to: patterns[$0 % 10]) })
    // And none when nobody holds them
    withExtendedLifetime(held) {}
  }

  /// Also where it may not be copied.
  @Test(arguments: [0, 1 << 20])
  func `a body that is held keeps nothing from being stored`(copiedBytesMax: Int) throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open {
      $0.bytesMax = 16 << 20
      $0.copiedBytesMax = copiedBytesMax
      $0.leaseMax = 0
    }
    put(store, 0..<1)
    let held = try #require(store.lookup(StoreKey("0"))).body
    let span = held.rawBytes
    // When as much is put as the file may grow by
    for number in 0..<200 {
      store.put(StoreKey("new \(number)"), namespace: "n", metadata: [], body: pattern(number, count: 50_000))
      if number % 10 == 9 { store.flush() }
    }
    // Then all of it is there
    #expect(store.statistics.dropped == 0)
    #expect(store.lookup(StoreKey("new 199"))?.bytes == pattern(199, count: 50_000))
    #expect([UInt8](span) == pattern(0, count: 8_000))
  }

  @Test func `leases outlive the store`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    var store: CacheStore? = try directory.open()
    put(try #require(store), 0..<3)
    let body = try #require(store?.lookup(StoreKey("1"))).body
    let pinned = try #require(store?.lookup(StoreKey("2"))).body
    let span = pinned.rawBytes
    store?.close()
    store = nil
    #expect(unsafe body.withUnsafeBytes { unsafe [UInt8]($0) } == pattern(1, count: 8_000))
    // And the directory can be opened again although one of them still uses the file
    let again = try directory.open()
    put(again, 50..<100)
    #expect([UInt8](span) == pattern(2, count: 8_000))
    #expect(again.lookup(StoreKey("1"))?.bytes == pattern(51, count: 8_000))
  }

  @Test func `more states than allowed are held as copies`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.snapshotsMax = 4 }
    var held: [StoreHit] = []
    for number in 0..<40 {
      put(store, number..<number + 1)
      held.append(try #require(store.lookup(StoreKey("\(number)"))))
    }
    #expect(store.statistics.snapshots <= 6)
    #expect(held.enumerated().allSatisfy { $1.bytes == pattern($0, count: 8_000) })
  }

  @Test func `a body is read from many threads while it is copied out`() async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.leaseMax = 0 }
    put(store, 0..<8)
    let held = try (0..<8).map { try #require(store.lookup(StoreKey("\($0)"))) }
    let areWhole = await withTaskGroup(of: Bool.self) { group in
      for hit in held.enumerated() {
        group.addTask { (0..<200).allSatisfy { _ in hit.element.bytes == pattern(hit.offset, count: 8_000) } }
      }
      for round in 1...10 { put(store, round * 50..<round * 50 + 8) }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(areWhole)
  }

  @Test func `leases end elsewhere than they began and none is left`() async throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.open { $0.leaseMax = 0 }
    put(store, 0..<50)
    // When some look up and others read and let go, while the store changes
    let areWhole = await withTaskGroup(of: Bool.self) { group in
      for round in 0..<100 {
        let hits = (0..<50).compactMap { store.lookup(StoreKey("\($0)")) }
        group.addTask { hits.allSatisfy { $0.bytes == pattern(Int($0.metadata[0]), count: 8_000) } }
        if round % 20 == 10 { put(store, round / 20 * 50..<round / 20 * 50 + 50) }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(areWhole)
    // Then the store keeps nothing for them: a task lets go of what it holds only after it has answered
    while store.statistics.leases > 0 { await Task.yield() }
    store.flush()
    #expect(store.statistics.snapshots <= 1)
  }
}
