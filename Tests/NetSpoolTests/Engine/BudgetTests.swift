import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// What is counted of the limits that everybody has of their own; the full ones are in `IsolationTests`.
struct BudgetTests {
  @Test func `counts who waits for a device's threads and for how long`() async throws {
    let budgets = DeviceBudgets(heldMax: 1)
    let worker = Worker(budgets: budgets) { completion in completion() }
    let (gate, begun) = (Latch(), Latch())
    let lane = Worker.Lane(device: 7)
    worker.run(
      on: lane,
      {
        begun.open()
        gate.block()
      }, completion: {})
    await blocking { begun.block() }
    worker.run(on: lane, {}, completion: {})
    let full = budgets.reports[7]
    #expect(full?.held == 1 && full?.heldMax == 1 && full?.waiting == 1)
    gate.open()
    await blocking { worker.stop() }
    let empty = budgets.reports[7]
    #expect(empty?.held == 0 && empty?.waiting == 0 && empty?.refused == 0)
    #expect(empty.map { $0.longestWait >= full?.longestWait ?? .zero } ?? false)
  }

  @Test func `a download to a file is counted at its device`() async throws {
    try await withEngine { engine, origin in
      let folder = try TestFolder()
      origin.on("/file", .pattern(300_000))
      let stream = FileDownloadStream(path: folder["file"])
      let operation = engine.operation(path: "/file").addDownloadStream(stream)
      #expect(await engine.end(of: operation).response?.status == 200)
      let queue = engine.configuration.queue
      let (writes, loops) = (queue.budgets.fileWrites, queue.driver.loops.count)
      #expect(writes.count == 1)
      #expect(writes.values.allSatisfy { $0.held == 0 && $0.waiting == 0 && $0.heldMax == max(2, loops) })
    }
  }

  @Test func `counts what waits for the cache and what it would not take`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      #expect(engine.budgets.cacheWrites == nil)
      var settings = CacheConfiguration.patient(folder["cache"])
      settings.bytesMax = 1 << 20
      try engine.useCache(settings)
      origin.on("/small", .text("small").header("Cache-Control", "max-age=60"))
      #expect(await engine.end(of: engine.operation(path: "/small")).text == "small")
      await blocking { engine.flushCache() }
      let writes = try #require(engine.budgets.cacheWrites)
      #expect(writes.held == 0 && writes.waiting == 0 && writes.refused == 0, "\(writes)")
      #expect(writes.heldMax == 32 << 20 && writes.longestWait > .zero, "\(writes)")
      let store = try #require(engine.cache?.store)
      store.put(StoreKey([1]), namespace: "n", metadata: [], body: [UInt8](repeating: 0, count: 1 << 20 + 1))
      #expect(engine.budgets.cacheWrites?.refused == 1)
      engine.closeCache()
    }
  }

  @Test func `places of the queue are counted, who waits for one, and who went without`() async throws {
    try await withEngine(queue: { $0.maximumConcurrent = 1 }) { engine, origin in
      let queue = engine.configuration.queue
      // However slow the machine is
      engine.driver.eachLoop { $0.seats.silence = .max }
      origin.on(prefix: "/", .text("ok"))
      let first = await engine.held("/first", at: origin)
      let (second, third) = (engine.start("/second"), engine.start("/third"))
      await engine.settle()
      let full = queue.budgets.places
      #expect(full.held == 1 && full.heldMax == 1 && full.waiting == 2 && full.refused == 0, "\(full)")
      third.cancel()
      #expect(await third.end().code == .cancelled)
      origin.release("/first")
      #expect(await first.end().response != nil)
      #expect(await second.end().response != nil)
      await engine.settle()
      let empty = queue.budgets.places
      #expect(empty.held == 0 && empty.waiting == 0 && empty.refused == 1, "\(empty)")
      #expect(empty.longestWait >= full.longestWait && full.longestWait > .zero)
    }
  }

  /// Places that become free meanwhile are offered to some of them first.
  @Test func `all that are cancelled together went without a place`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(4) }) { engine, origin in
      origin.hold("/")
      let operations = engine.start(engine.apart(5_000))
      #expect(await origin.waitForWaiting("/", 4))
      await engine.settle()
      let queue = engine.configuration.queue
      #expect(queue.budgets.places.waiting == 4_996)
      engine.cancelAll()
      for operation in operations { #expect(await operation.end().code == .cancelled) }
      await engine.settle()
      let empty = queue.budgets.places
      #expect(empty.held == 0 && empty.waiting == 0 && empty.refused == 4_996, "\(empty)")
    }
  }

  /// A place was lent to another engine, and is kept for the next that has none: the others wait for one all the same.
  @Test func `behind another engine all that are cancelled went without a place, too`() async throws {
    let another = try ScriptedOrigin(answering: .text("ok"))
    try await withEngine(queue: { $0.maximumConcurrent = 4 }) { engine, origin in
      let queue = engine.configuration.queue
      let other = try NetworkEngine(to: another, on: queue)
      origin.hold("/")
      let begun = Counter()
      let operations = engine.apart(1_000)
      for operation in operations { operation.onStateChange { if $0 == .executing { begun.add() } } }
      engine.enqueue(operations)
      #expect(await origin.waitForWaiting("/", 4))
      #expect(await other.fetch("/").text == "ok")
      await engine.settle()
      #expect(queue.budgets.places.waiting > 0)
      engine.cancelAll()
      for operation in operations { #expect(await operation.end().code == .cancelled) }
      await engine.settle()
      // More than four, where some have been silent for a second: they stand aside for others.
      let places = queue.budgets.places
      #expect(places.refused == 1_000 - begun.value && begun.value < 1_000, "\(places)")
      #expect(places.waiting == 0 && places.held == 0, "\(places)")
    }
  }

  /// As an engine's logger gets them.
  private func keepLines(of engine: NetworkEngine) -> Journal<String> {
    let journal = Journal<String>()
    engine.driver.logs.withLock { $0[engine.id] = { journal.add($0) } }
    return journal
  }

  @Test func `a closure that holds the loop is counted and logged once a second`() async throws {
    try await withEngine({ $0.delivery = .loopThread }) { engine, origin in
      let journal = keepLines(of: engine)
      origin.on("/", .text("ok"))
      let queue = engine.configuration.queue
      let began = ContinuousClock.now
      try await engine.repeatUntilTold(journal, "ms by closures on the loop thread", atLeast: 3) {
        engine.operation(path: "/").onCompletion { _ in usleep(70_000) }
      }
      #expect(queue.budgets.longestTurn >= .milliseconds(70) && queue.budgets.longTurns >= 3)
      #expect(journal.count <= 1 + Int((ContinuousClock.now - began).components.seconds))
    }
  }

  @Test(.notSanitized(.timeIsNoMeasure))
  func `a stream that holds the loop is logged with its origin, by its own engine`() async throws {
    try await withEngine { engine, origin in
      origin.on("/", .text("ok"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      let (others, journal) = (keepLines(of: other), keepLines(of: engine))
      let stream = ClosureDownloadStream { _ in
        usleep(70_000)
        return .accepted
      }
      let said = "by http://127.0.0.1:\(origin.port)"
      try await engine.repeatUntilTold(journal, said) {
        engine.operation(path: "/").addDownloadStream(stream)
      }
      #expect(!others.entries.contains { $0.hasSuffix(said) })
    }
  }

  @Test func `a wait without an end keeps no memory of those that come and go meanwhile`() {
    var times = WaitingTimes()
    let stuck = times.begin(1)
    for now in 2...10_000 {
      let other = times.begin(Microseconds(now))
      #expect(times.end(other) == Microseconds(now))
    }
    #expect(times.begun.count <= 1_024 && times.count == 1 && times.oldest == 1)
    #expect(times.end(stuck) == 1 && times.end(stuck) == nil && times.oldest == nil)
  }

  /// Against a plain list, in any order of leaving.
  @Test(arguments: 1...5) func `knows who has waited longest`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var times = WaitingTimes()
    var model: [Int: Microseconds] = [:]
    var number = 0
    for now in 1...3_000 {
      if model.isEmpty || Int.random(in: 0..<(now < 2_000 ? 4 : 3), using: &random) > 1 {
        #expect(times.begin(Microseconds(now)) == number)
        model[number] = Microseconds(now)
        number += 1
      } else {
        let one = Int.random(in: max(0, number - 1_500)..<number, using: &random)
        #expect(times.end(one) == model.removeValue(forKey: one))
      }
      #expect(times.count == model.count && times.oldest == model.values.min())
    }
  }
}

extension NetworkEngine {
  /// Sends again and again what holds its loop, until a line says so: a busy machine may have held the loop just before, and
  /// then that is what the one line of the second tells.
  fileprivate func repeatUntilTold(
    _ journal: Journal<String>, _ said: String, atLeast count: Int = 1, _ make: () -> NetworkOperation
  ) async throws {
    for round in 0..<60 where round < count || !journal.entries.contains(where: { $0.contains(said) }) {
      #expect(await end(of: make()).response?.status == 200)
      await settle()
    }
    #expect(journal.entries.contains { $0.contains(said) }, "\(journal.entries)")
  }
}
