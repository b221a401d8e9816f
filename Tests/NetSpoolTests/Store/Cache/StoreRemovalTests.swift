import Testing

@testable import NetSpool
@testable import TestSupport

/// Removing many entries by a pattern: they are gone at once, and taken out afterwards.
@Suite(.measured) struct StoreRemovalTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `entries of a removal are found by no lookup before they are taken out`() async throws {
    let store = try folder.open { $0.removedAtOnce = 1 }
    fill(store, 1_500)
    // When a third of them is removed, and the store's thread is kept before it takes them out
    let (isKept, isRead, goesOn) = (Latch(), Latch(), Latch())
    store.core.afterCommit {
      isKept.open()
      isRead.block()
    }
    await isKept.opened()
    async let removal: Void = blocking { store.removeAll(namespace: "n", matching: Array("x/".utf8)) }
    #expect(await until { store.core.shared.withLock { $0.removals.count } == 1 })
    store.core.afterCommit { goesOn.block() }
    isRead.open()
    await removal
    // Then nobody finds them, though most are still there, and what is put now is found
    let left = store.statistics.entries
    #expect((0..<1_500).allSatisfy { store.lookup(Self.key($0)).isMissing == ($0 % 3 == 0) })
    goesOn.open()
    store.put(Self.key(0), namespace: "n", metadata: [], body: [9])
    store.flush()
    #expect(store.lookup(Self.key(0))?.bytes == [9])
    #expect(left > 1_000)
    #expect(await until { store.statistics.entries == 1_001 })
    #expect(store.lookup(Self.key(0))?.bytes == [9])
    #expect(store.lookup(Self.key(3)).isMissing && store.lookup(Self.key(1)) != nil)
  }

  @Test func `an entry that was found and put down for a use stays removed`() async throws {
    let store = try folder.open {
      $0.removedAtOnce = 10
      $0.recencyStep = 0
    }
    fill(store, 600)
    for number in 0..<600 { #expect(store.lookup(Self.key(number)) != nil) }
    store.removeAll(namespace: "n", matching: Array("x/".utf8))
    store.flush()
    #expect((0..<600).allSatisfy { store.lookup(Self.key($0)).isMissing == ($0 % 3 == 0) })
    #expect(await until { store.statistics.entries == 400 })
  }

  @Test func `a store that is opened again goes on with it`() async throws {
    // Given a removal that its process did not finish
    var store = try folder.open { $0.removedAtOnce = 5 }
    fill(store, 2_000)
    var writer = CacheWriter(store.core)
    #expect(try writer.remove(namespace: "n", pattern: Array("x/".utf8)).left != nil)
    store.close()
    store = try folder.open {
      $0.removedAtOnce = 50
      $0.sweepPatience = 0
    }
    let left = store.statistics.entries
    #expect((0..<2_000).allSatisfy { store.lookup(Self.key($0)).isMissing == ($0 % 3 == 0) })
    store.put("more", [])
    #expect(await until { store.statistics.entries == 1_334 })
    #expect(left > 1_333)
  }

  /// Marks have numbers of the machine's clock, which begins anew with the machine.
  @Test func `a mark of before the machine was started anew stays when another is made`() throws {
    let store = try folder.open {
      $0.removedAtOnce = 1
      $0.sweepPatience = 3_600 * .second
    }
    fill(store, 60)
    var writer = CacheWriter(store.core)
    _ = try writer.inTransaction { writer, transaction throws(StoreError) in
      let former = Removal(
        number: .max / 2, namespace: writer.namespaces[0].number, pattern: Array("x/".utf8), youngest: .max,
        madeAt: MonotonicClock.now, writer.settings)
      try transaction.put(
        former.encode().rawBytes, at: RecordKey(integer: former.number), in: writer.databases.removals)
    }
    #expect(try writer.remove(namespace: "n", pattern: Array("y/".utf8)).left != nil)
    #expect((0..<60).allSatisfy { store.lookup(Self.key($0)).isMissing })
  }

  /// As after a clock that was an hour fast has been set right.
  @Test(arguments: ["x/1", "x/2"])
  func `what is put after a removal is none of it, though it seems older`(last: String) throws {
    // Given two entries that were used an hour from now
    let store = try TestFolder().open {
      $0.removedAtOnce = 1
      $0.sweepPatience = 3_600 * .second
    }
    let keys = (last == "x/1" ? ["x/2", "x/1"] : ["x/1", "x/2"]).map { StoreKey($0) }
    for key in keys { store.put(key, namespace: "n", metadata: [], body: [1]) }
    store.flush()
    var writer = CacheWriter(store.core)
    _ = try writer.inTransaction { writer, transaction throws(StoreError) in
      writer.lastRecency = UInt64(WallClock.microseconds + .hour)
      for key in keys { try writer.touch(key.digest, &transaction) }
    }
    // When one of them is taken out, perhaps the one that was used last, and the other still stands behind a mark
    #expect(try writer.remove(namespace: "n", pattern: Array("x/".utf8)).left != nil)
    // Then what is put now is found
    store.write("x/3", [9])
    #expect(store.lookup("x/3")?.bytes == [9])
    #expect(keys.allSatisfy { store.lookup($0).isMissing })
  }

  @Test func `more removals than are kept side by side wait for each other`() async throws {
    let store = try folder.open { $0.removedAtOnce = 2 }
    for number in 0..<600 { store.put("\(number % 20)/\(number)", []) }
    for place in 0..<19 { store.removeAll(namespace: "n", matching: Array("\(place)/".utf8)) }
    #expect((0..<600).allSatisfy { store.lookup("\($0 % 20)/\($0)").isMissing == ($0 % 20 != 19) })
    #expect(await until { store.statistics.entries == 30 })
  }

  @Test func `a mark goes with all that is removed`() throws {
    let store = try folder.open { $0.removedAtOnce = 5 }
    fill(store, 600)
    store.removeAll(namespace: "n", matching: Array("x/".utf8))
    store.removeAll(namespace: "n")
    fill(store, 600)
    #expect((0..<600).allSatisfy { store.lookup(Self.key($0)) != nil })
  }

  @Test(arguments: [false, true])
  func `twenty thousand of forty thousand are gone at a cost that does not grow with them`(byTag: Bool)
    throws
  {
    // Given as many answers, half of them of one folder and with one tag
    let folder = try TestFolder(in: TestFiles.fast)
    let store = try folder.open {
      $0.bytesMax = 512 << 20
      $0.match = EngineCache.match
    }
    let cache = EngineCache(store: store, settings: EngineCache.Settings(), headers: Headers())
    var answer = try #require(stored(["Cache-Control: max-age=100"]))
    for number in 0..<40_000 {
      answer.tags = number % 2 == 0 ? ["x"] : ["y"]
      cache.put(answer, .bytes([1]), for: try Self.question(number, cache), askedAt: .max)
      if number % 10_000 == 9_999 { store.flush() }
    }
    try #require(store.statistics.entries == 40_000)
    // When they are removed, and a hundred others looked for
    var wrong: [Int] = []
    let time = try work {
      if byTag { cache.remove(tag: "x") } else { cache.remove(prefix: "http://h.example/0/") }
      wrong = try stride(from: 0, to: 40_000, by: 997).filter { number in
        try (cache.held(for: Self.question(number, cache)) == nil) != (number % 2 == 0)
      }
    }
    store.flush()
    expect(time, within: .milliseconds(100))
    #expect(wrong.isEmpty)
  }

  private static func question(_ number: Int, _ cache: EngineCache) throws -> CacheQuestion {
    let (origin, path) = ("http://h.example", "/\(number % 2)/\(number)")
    let question = cache.question(
      NetworkRequest(url: origin + path), method: .get, origin: origin.utf8.span, target: path.utf8.span,
      own: Headers(), from: nil)
    return try #require(question)
  }

  private static func key(_ number: Int) -> StoreKey { StoreKey("\(number % 3 == 0 ? "x" : "y")/\(number)") }

  private func fill(_ store: CacheStore, _ count: Int) {
    for number in 0..<count { store.put(Self.key(number), namespace: "n", metadata: [], body: [1]) }
    store.flush()
  }
}
