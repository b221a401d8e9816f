import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A disk that is full: 4 MiB, where the tests may mount one.
@Suite(.enabled(if: TinyDisk.isPossible))
struct StoreFullDiskTests {
  private let disk: TinyDisk

  init() throws { disk = try #require(TinyDisk(mebibytes: 4)) }

  @Test func `a full disk drops puts and recovers`() throws {
    let store = try disk.directory.open()
    let bodies = (0..<100).map { pattern($0, count: 90_000) }
    for round in 0..<8 {
      // When far more is put than there is room for
      for number in 0..<100 { store.put("\(number)", bodies[number]) }
      store.flush()
      // Then nothing found is wrong
      for number in 0..<100 {
        if let hit = store.lookup("\(number)") { #expect(hit.bytes == bodies[number]) }
      }
      // And once there is room again, it takes puts again
      store.removeAll(namespace: "n")
      store.write("after", pattern(round, count: 5_000))
      #expect(store.lookup("after")?.bytes == pattern(round, count: 5_000))
    }
    #expect(store.statistics.dropped + store.statistics.evictions > 0 && store.statistics.damaged == 0)
  }

  @Test func `a full disk has old entries make room for new ones`() throws {
    let store = try disk.directory.open()
    let bodies = (0..<40).map { pattern($0, count: 90_000) }
    // When six times as much is put as the disk holds, not faster than it is written
    for round in 0..<6 {
      for number in 0..<40 {
        store.put("\(round) \(number)", bodies[number])
        if number % 4 == 3 { store.flush() }
      }
    }
    // Then the newest are there, and hardly any was dropped
    let found = (0..<20).count { store.lookup("5 \($0 + 20)")?.bytes == bodies[$0 + 20] }
    #expect(found >= 18 && store.statistics.dropped <= 12, "\(found) found, \(store.statistics)")
    #expect(store.statistics.damaged == 0)
  }

  @Test(arguments: [200, 2_000, 20_000, 90_000])
  func `a disk that was full before has old entries make room as well`(_ bytes: Int) throws {
    let count = min(4_000, 1_500_000 / bytes)
    // Given a store with entries, on a disk that somebody else has filled meanwhile
    let before = try disk.directory.open()
    for number in 0..<count { before.put("old \(number)", pattern(number, count: bytes)) }
    before.flush()
    before.close()
    // All but what the table of readers needs
    try disk.fill(leaving: 32)
    // When the next process puts into it, not faster than it is written
    let store = try disk.directory.open()
    for number in 0..<2 * count {
      store.put("\(number)", pattern(number, count: bytes))
      if number % 4 == 3 { store.flush() }
    }
    store.flush()
    // Then old ones have gone and new ones are there, but for some that are long and find no place in one piece
    let found = (count..<2 * count).count { store.lookup("\($0)")?.bytes == pattern($0, count: bytes) }
    #expect(found > 0 && store.statistics.dropped <= count / 4, "\(found) found, \(store.statistics)")
    #expect(store.statistics.damaged == 0)
  }

  @Test func `of more at once than a disk holds the last is stored`() throws {
    let store = try disk.directory.open()
    let bodies = (0..<4).map { pattern($0, count: 1_500_000) }
    // In one batch: the thread that writes is kept meanwhile
    let (isKept, gate) = (Latch(), Latch())
    store.core.afterCommit {
      isKept.open()
      gate.block()
    }
    isKept.block()
    for (number, body) in bodies.enumerated() { store.put("new \(number)", body) }
    gate.open()
    store.flush()
    #expect(store.lookup("new 3")?.bytes == bodies[3] && store.statistics.dropped <= 1)
  }

  @Test func `a body that the disk can never take drives nothing out`() throws {
    let store = try disk.directory.open()
    let bodies = (0..<20).map { pattern($0, count: 20_000) }
    for number in 0..<20 { store.put("\(number)", bodies[number]) }
    store.flush()
    store.write("long", pattern(1, count: 6 << 20))
    #expect(store.lookup("long").isMissing && store.statistics.dropped == 1)
    #expect((0..<20).allSatisfy { store.lookup("\($0)")?.bytes == bodies[$0] })
  }

  /// LMDB writes to its table of readers through a map: without blocks behind it that is SIGBUS.
  @Test(arguments: [0, 1, 2, 4, 8, 16, 24, 64])
  func `a disk with hardly a page left refuses a store, and kills no process`(_ pages: Int) throws {
    try disk.fill(leaving: pages)
    do {
      _ = try CacheStore.open(CacheStoreSettings(directory: disk.directory["store"])).lookup("x")
    } catch {
      #expect(error.code == .storageFull, "\(error)")
      #expect(pages < 64)
    }
  }

  @Test func `a disk that fills under an engine's cache costs it its cache, until there is room again`()
    async throws
  {
    try await withEngine { engine, origin in
      try engine.useCache(.patient(disk.directory["cache"]))
      origin.on(prefix: "/", .pattern(100_000).header("Cache-Control", "max-age=60"))
      #expect(await engine.get("/before").end().response?.body.count == 100_000)
      await blocking { engine.flushCache() }
      // When somebody else fills it, then requests go on, and it is counted what that costs
      try disk.fill()
      for number in 0..<40 { #expect(await engine.get("/\(number)").end().response?.body.count == 100_000) }
      await blocking { engine.flushCache() }
      let full = try #require(engine.cacheStatistics)
      #expect(full.dropped + full.evictions > 0 || full.state == .failed, "\(full)")
      let before = try #require(await engine.get("/before").end().response?.body)
      #expect(before.count == 100_000 && BodyPattern.matches(Array(before)))
      // When there is room again, then what waits is written without a request, and what comes is stored
      try disk.empty()
      #expect(await until { engine.cacheStatistics?.state == .open })
      #expect(await until { engine.cacheStatistics?.pendingBytes == 0 })
      #expect(await engine.get("/after").end().response?.isFromCache == false)
      await blocking { engine.flushCache() }
      #expect(await engine.get("/after").end().response?.isFromCache == true)
    }
  }
}
