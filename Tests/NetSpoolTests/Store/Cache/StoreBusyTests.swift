import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

extension CacheStore {
  /// Those that the disk does not know yet.
  fileprivate var removals: Int { core.shared.withLock { $0.removals.count } }
}

/// Another process that is stopped in its commit, and keeps the store's lock.
@Suite("A store that another process keeps", .measured)
struct StoreBusyTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  /// Has another process take the lock of the writer and stop, as one does that is stopped in its commit, and die when
  /// `body` has run.
  private static func whileKept<Result>(_ path: String, _ body: () async throws -> Result) async throws
    -> Result
  {
    let script = "exec 9>>\"$0\" && flock 9 && echo kept && kill -STOP $$"
    let process = try ChildProcess(["sh", "-c", script, path + "/writer"])
    defer {
      process.signal(SIGKILL)
      _ = process.wait()
    }
    let said = try await blocking { try process.output.read(before: .generous) }
    #expect(String(decoding: said, as: UTF8.self) == "kept\n")
    return try await body()
  }

  @Test func `is read, and written when it is let go`() async throws {
    let store = try directory.open()
    store.write("before", [1])
    try await Self.whileKept(directory.path) {
      // Given puts that cannot be written
      store.write("meanwhile", [2])
      // Then lookups go on, and it is said why
      #expect(store.lookup("before")?.bytes == [1])
      #expect(store.lookup("meanwhile")?.bytes == [2])
      #expect(store.statistics.state == .busy && store.statistics.puts == 1)
      // And what is too much is dropped, and nobody waits
      for number in 0..<100 { store.put("\(number)", pattern(number, count: 1 << 20)) }
      #expect(store.statistics.dropped >= 60)
    }
    // When it is let go, it is written
    _ = await until { store.statistics.pendingBytes == 0 }
    #expect(store.statistics.pendingBytes == 0 && store.statistics.state == .open)
    #expect(store.lookup("meanwhile")?.bytes == [2])
  }

  @Test func `has what callers wait for written as soon as it is let go`() async throws {
    let store = try directory.open()
    store.write("a", [1])
    let (removal, flush) = try await Self.whileKept(directory.path) {
      let flush = Task {
        await blocking {
          store.remove(StoreKey("a"))
          let began = ContinuousClock.now
          store.flush()
          return (
            store.statistics.pendingBytes == 0 && store.statistics.state == .open, ContinuousClock.now - began
          )
        }
      }
      let removal = Task {
        await blocking {
          let began = ContinuousClock.now
          store.removeAll(namespace: "n")
          return (store.removals == 0, ContinuousClock.now - began)
        }
      }
      #expect(await until { store.removals == 1 && store.statistics.state == .busy })
      return (removal, flush)
    }
    // Where a busy machine has let it go late, the callers have given up after their 5 s.
    let (flushed, removed) = (await flush.value, await removal.value)
    #expect(flushed.0 || flushed.1 >= .seconds(5))
    #expect(removed.0 || removed.1 >= .seconds(5))
  }

  @Test func `is emptied for this process at once, and on the disk when it is let go`() async throws {
    let store = try directory.open()
    func keys(_ name: String) -> [StoreKey] { (0..<100).map { StoreKey("\(name) \($0)") } }
    for name in ["a", "b"] {
      for key in keys(name) { store.put(key, namespace: name, metadata: [], body: [1]) }
    }
    store.flush()
    try await Self.whileKept(directory.path) {
      store.put("a pending", [2], namespace: "a")
      let found = keys("a").map { ($0, store.lookup($0)) }
      func isCertain(_ key: StoreKey, _ hit: StoreHit?) -> Bool {
        hit.flatMap { hit in hit.place.flatMap { store.lookup(key, again: $0) { _ in true } } } != nil
      }
      #expect(found.allSatisfy(isCertain))
      // When all of one namespace and some of another are removed
      let start = ContinuousClock.now
      async let isEmptied: Void = blocking { store.removeAll(namespace: "a") }
      async let isRemoved: Void = blocking { store.removeAll(namespace: "b", matching: Array("b 1".utf8)) }
      // Then nothing of it is found while the callers still wait
      #expect(await until { store.removals == 2 })
      #expect(!found.contains(where: isCertain))
      #expect((keys("a") + [StoreKey("a pending")]).allSatisfy { store.lookup($0).isMissing })
      #expect(keys("b").count { !store.lookup($0).isMissing } == 89)
      // Who waits does so for 5 s
      _ = await (isEmptied, isRemoved)
      #expect(start.duration(to: .now) >= .seconds(5) && store.removals == 2)
      // And what comes later is found
      store.put("a later", [3], namespace: "a")
      #expect(store.lookup("a later")?.bytes == [3])
      #expect(keys("a").allSatisfy { store.lookup($0).isMissing })
    }
    // When it is let go, others do not find it either
    #expect(await until { store.removals == 0 && store.statistics.pendingBytes == 0 })
    #expect((keys("a") + [StoreKey("a pending")]).allSatisfy { store.lookup($0).isMissing })
    #expect(keys("b").count { !store.lookup($0).isMissing } == 89)
    store.close()
    let again = try directory.open()
    #expect(keys("a").allSatisfy { again.lookup($0).isMissing })
    #expect(keys("b").count { !again.lookup($0).isMissing } == 89)
  }

  @Test func `is no more asked for each of thousands of removals`() async throws {
    let store = try directory.open()
    store.put("kept", [1], namespace: "b")
    for number in 0..<200 { store.put("\(number)", [1], namespace: "a") }
    store.flush()
    try await Self.whileKept(directory.path) {
      await withTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            await blocking { store.removeAll(namespace: "a", matching: Array("x \(number)".utf8)) }
          }
        }
        #expect(await until { store.removals == 100 })
        #expect((0..<200).allSatisfy { store.lookup("\($0)").isMissing })
        #expect(!store.lookup("kept").isMissing)
      }
    }
    #expect(await until { store.removals == 0 })
    #expect((0..<200).allSatisfy { !store.lookup("\($0)").isMissing })
  }

  @Test func `keeps no other process from opening and closing`() async throws {
    let (kept, others) = (try TestFolder(), try TestFolder())
    do { _ = try kept.open() }
    let (opened, refused) = (Latch(), Counter())
    try await Self.whileKept(kept.path) {
      Task {
        while (try? await blocking { () throws(any Error) in _ = try kept.open() }) == nil { refused.add() }
        opened.open()
      }
      // While one waits for it, again and again for 5 s: more than a few such waits would be theirs as well
      for number in 0..<10 {
        _ = try CacheStore.open(CacheStoreSettings(directory: "\(others.path)/\(number)"))
      }
      #expect(!opened.isOpen && refused.value < 5)
    }
    await opened.opened()
  }

  @Test func `is opened later, and requests go on meanwhile`() async throws {
    do { _ = try directory.open() }
    try await withEngine { engine, origin in
      origin.on("/", .text("hello").header("Cache-Control", "max-age=60"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      try await Self.whileKept(directory.path) {
        let configuration = CacheConfiguration.patient(directory.path)
        // Given an engine that is to have a cache there
        async let opening = blocking { [configuration] in
          let start = ContinuousClock.now
          let failure = Result { () throws(NetworkError) in try engine.useCache(configuration) }.failure
          return (failure, start.duration(to: .now))
        }
        // Then others go on, while it is waited for
        try await expectAnswer(on: other.configuration.queue)
        for _ in 0..<20 { #expect(await other.get("/").end().text == "hello") }
        // And after 5 s it goes on without
        let (failure, time) = await opening
        #expect(failure?.code == .storeBusy)
        #expect(time >= .seconds(5))
        #expect(engine.cacheStatistics?.state == .busy)
        #expect(await engine.get("/").end().text == "hello")
      }
      // When the other process goes on, it is opened
      #expect(await until { engine.cacheStatistics?.state == .open })
      #expect(await engine.get("/").end().text == "hello")
      #expect(await engine.get("/").end().response?.isFromCache == true)
    }
  }

  @Test func `is left by its last engine on the loop without a wait`() async throws {
    do { _ = try directory.open() }
    try await withEngine { other, origin in
      origin.on(prefix: "/", .text("hello").header("Cache-Control", "max-age=60"))
      let queue = other.configuration.queue
      let held = Mutex<NetworkEngine?>(try NetworkEngine(to: origin, on: queue))
      try held.withLock { try $0?.useCache(CacheConfiguration(directory: directory.path)) }
      try await Self.whileKept(directory.path) {
        // Given puts that cannot be written
        for number in 0..<20 {
          let operation = held.withLock { $0?.operation(path: "/\(number)") }
          let answer = await operation?.engine.end(of: try #require(operation))
          #expect(answer?.text == "hello")
        }
        // When the loop lets go of the engine, then nobody waits
        let clock = await LoopClock(queue)
        let isGone = Latch()
        queue.driver.perform { _ in
          held.withLock { $0 = nil }
          isGone.open()
        }
        try await expectAnswer(on: queue)
        await isGone.opened()
        expect(await clock.longestTurn, within: workMax)
      }
    }
  }
}
