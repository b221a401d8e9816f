import Dispatch
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// A hit needs neither network nor loop, and yet behaves like every other answer.
struct HitDeliveryTests {
  enum Target: String, Sendable, CaseIterable { case serialQueue, own, loopThread }

  @Test(arguments: Target.allCases)
  func `closures run on the delivery target, in order`(_ target: Target) async throws {
    let own = DispatchQueue(label: "own")
    own.setSpecific(key: Self.mark, value: true)
    try await withHeld(engine: { $0.delivery = target.delivery(own) }) { engine, origin in
      let isRight = Journal<Bool>()
      let heard = Journal<String>()
      for _ in 1...100 {
        let operation = engine.operation(path: "/a")
        operation.onStateChange { heard.add("\($0)") }
        operation.onCompletion { _ in
          heard.add("completion")
          switch target {
          case .own: isRight.add(DispatchQueue.getSpecific(key: Self.mark) == true)
          case .loopThread: isRight.add(NetSpool.Delivery.isRunning && !Self.isOnQueue)
          case .serialQueue: isRight.add(DispatchQueue.getSpecific(key: Self.mark) == nil)
          }
        }
        #expect(await engine.end(of: operation).response?.source == .cache)
      }
      #expect(isRight.entries == Array(repeating: true, count: 100))
      #expect(heard.entries == (1...100).flatMap { _ in ["finished", "completion"] })
      #expect(origin.requestCount == 1)
    }
  }

  @Test(arguments: Target.allCases)
  func `the queue is not idle before its closure has run`(_ target: Target) async throws {
    try await withHeld(engine: { $0.delivery = target.delivery(DispatchQueue(label: "own")) }) { engine, _ in
      let queue = engine.configuration.queue
      let (latch, ran) = (Latch(), Counter())
      let operation = engine.operation(path: "/a")
      operation.onCompletion { _ in
        latch.block()
        ran.add()
      }
      engine.enqueue(operation)
      // Nothing is called back meanwhile, on whatever thread: this one goes on
      #expect(ran.value == 0)
      let isIdleTooEarly = await queue.drain(deadline: .milliseconds(20))
      #expect(!isIdleTooEarly)
      latch.open()
      #expect(await queue.drain(deadline: .seconds(60)))
      #expect(ran.value == 1)
    }
  }

  @Test func `behind a handler that blocks so many are on their way, and the others wait`() async throws {
    try await withHeld { engine, origin in
      let (latch, seen) = (Latch(), Counter())
      engine.enqueue(engine.operation(path: "/a").onCompletion { _ in latch.block() })
      for _ in 1...10_000 { engine.enqueue(engine.operation(path: "/a").onCompletion { _ in seen.add() }) }
      await engine.settle()
      let budget = engine.budgets.deliveries
      #expect(budget.held == 4_096 && budget.waiting == 10_001 - 4_096 && seen.value == 0, "\(budget)")
      let awaited = try await engine.response(for: NetworkRequest(url: origin.url("/a")))
      #expect(awaited.source == .cache)
      latch.open()
      #expect(await engine.configuration.queue.drain(deadline: .seconds(60)))
      #expect(seen.value == 10_000 && origin.requestCount == 1)
      #expect(engine.budgets.deliveries.held == 0 && engine.budgets.deliveries.waiting == 0)
    }
  }

  @Test func `answers that were found last are found again without a search, however many share a place`()
    async throws
  {
    try await withCache { engine, origin, _ in
      let paths = (0..<2_000).map { "/\($0)" }
      for path in paths { origin.on(path, .text("held").header("Cache-Control", "max-age=100")) }
      for path in paths { _ = await engine.fetch(path) }
      engine.cache?.store.flush()
      for path in paths { #expect(await engine.fetch(path).response?.source == .cache) }
      // One in fifty may be missing: five that share a place are rare.
      #expect(paths.count { engine.cache?.recent[origin.url($0)] == nil } <= paths.count / 50)
    }
  }

  @Test
  func `an answer that is found again and again is as old as it is, and of the same sender`() async throws {
    try await withCache { engine, origin, clock in
      // Given an answer that stands in the store and has been found twice
      origin.on("/a", .text("old").header("Cache-Control", "max-age=10"))
      _ = await engine.fetch("/a")
      engine.cache?.store.flush()
      for _ in 1...2 { #expect(await engine.fetch("/a").response?.source == .cache) }
      // Then it grows older
      clock.advance(seconds: 5)
      #expect(await engine.fetch("/a").response?.headers["Age"] == "5")
      // And whoever says who he is, or has a wish of his own, does not get it
      origin.forgetRequests()
      #expect(await engine.fetch("/a", headers: ["Authorization": "Bearer x"]).response?.source == .network)
      #expect(await engine.fetch("/a", .reload).response?.source == .network)
      #expect(origin.requestCount == 2)
      // And a change of the resource ends it
      engine.cache?.store.flush()
      for _ in 1...2 { #expect(await engine.fetch("/a").response?.source == .cache) }
      origin.on("/a", .text("new").header("Cache-Control", "max-age=10"))
      _ = await engine.end(of: engine.operation(path: "/a", method: .post))
      #expect(await engine.fetch("/a").text == "new")
      // And so does its time
      engine.cache?.store.flush()
      for _ in 1...2 { #expect(await engine.fetch("/a").response?.source == .cache) }
      clock.advance(seconds: 11)
      #expect(await engine.fetch("/a").response?.source == .network)
    }
  }

  private static let mark = DispatchSpecificKey<Bool>()
  private static var isOnQueue: Bool { DispatchQueue.getSpecific(key: mark) == true }

  @Test func `a hit inside a completion, a thousand deep`() async throws {
    try await withHeld { engine, origin in
      let left = Counter()
      let done = Latch()
      @Sendable func next() {
        guard left.add() <= 1000 else { return done.open() }
        engine.enqueue(engine.operation(path: "/a").onCompletion { _ in next() })
      }
      next()
      await done.opened()
      #expect(origin.requestCount == 1)
    }
  }

  @Test func `late handlers, waiting, events and a second enqueueing`() async throws {
    try await withHeld { engine, origin in
      let operation = engine.start("/a")
      _ = await operation.end()
      engine.enqueue(operation)
      #expect(await operation.end().response?.source == .cache)
      #expect(operation.state == .finished)
      let waited = try await blocking { try engine.wait(for: engine.operation(path: "/a")) }
      #expect(waited.source == .cache)
      var events: [String] = []
      for await event in engine.events(for: NetworkRequest(url: origin.url("/a"))) {
        switch event {
        case .state(let state): events.append("\(state)")
        case .finished(let result): events.append("\(result.response?.source.rawValue ?? "none")")
        case .downloadProgress: events.append("progress")
        case .uploadProgress: events.append("else")
        }
      }
      #expect(events == ["finished", "progress", "cache"])
      #expect(origin.requestCount == 1)
    }
  }

  @Test func `operations that wait for a hit go on, and a hit waits for others`() async throws {
    try await withHeld { engine, origin in
      origin.hold("/slow", .text("slow"))
      let slow = engine.start("/slow")
      let hit = engine.operation(path: "/a").addDependency(slow)
      let last = engine.start(engine.operation(path: "/a").addDependency(hit))
      engine.enqueue(hit)
      #expect(await origin.waitForWaiting("/slow", 1))
      #expect(hit.state == .queued && last.state == .queued)
      origin.release("/slow")
      #expect(await last.end().response?.source == .cache)
      #expect(await hit.end().response?.source == .cache)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `batches and prefetches count hits`() async throws {
    try await withHeld { engine, origin in
      let results = Journal<Int>()
      let done = Latch()
      engine.enqueue((0..<100).map { _ in engine.operation(path: "/a") }).onCompletion { all in
        results.add(all.filter { $0.response?.source == .cache }.count)
        done.open()
      }
      await done.opened()
      #expect(results.entries == [100])
      let fetched = Latch()
      let url = origin.url("/a")
      engine.prefetch(
        (0..<2000).lazy.map { _ in url },
        completion: { summary in
          results.add(summary.succeeded)
          fetched.open()
        })
      await fetched.opened()
      #expect(results.entries == [100, 2000] && origin.hits("/a") == 1)
    }
  }

  @Test func `cancelled or not, it ends once`() async throws {
    try await withHeld { engine, _ in
      let tally = Tally()
      for number in 0..<1000 {
        let operation = engine.operation(path: "/a")
        tally.watch(operation)
        if number % 3 == 0 { operation.cancel() }
        engine.enqueue(operation)
        if number % 3 == 1 { operation.cancel() }
      }
      await tally.wait(for: 1000)
      #expect(tally.isOneEach && tally.count("completed") == 666 && tally.count("cancelled") == 334)
    }
  }

  @Test(arguments: Target.allCases)
  func `shutting down waits until hits are delivered`(_ target: Target) async throws {
    try await withHeld { other, origin in
      // Another queue, whose loop never has a reason to start.
      try await withQueue { queue in
        let engine = try NetworkEngine(to: origin, on: queue) {
          $0.delivery = target.delivery(DispatchQueue(label: "own"))
        }
        try engine.useCache(other.sharedCache)
        let seen = Counter()
        for _ in 1...100 { engine.enqueue(engine.operation(path: "/a").onCompletion { _ in seen.add() }) }
        engine.shutDownAndWait(deadline: .seconds(10))
        #expect(seen.value == 100)
        #expect(await engine.fetch("/a").code == .engineClosed)
      }
    }
  }

  /// However many have been delivered in a row by then.
  @Test func `shutting down waits for a hit that is enqueued while others are delivered`() async throws {
    try await withHeld { other, origin in
      for count in 1...40 {
        try await withQueue { queue in
          let engine = try NetworkEngine(to: origin, on: queue)
          try engine.useCache(other.sharedCache)
          let (calls, isShut) = (Journal<String>(), Latch())
          @Sendable func next(_ number: Int) {
            engine.enqueue(
              engine.operation(path: "/a").onCompletion { _ in
                if number <= count { next(number + 1) } else { calls.add("the last") }
                guard number == count else { return }
                engine.shutDown(deadline: .seconds(10)) {
                  calls.add("shut")
                  isShut.open()
                }
              })
          }
          next(1)
          await isShut.opened()
          #expect(calls.entries == ["the last", "shut"], "\(count)")
        }
      }
    }
  }

  @Test func `a closed queue gives none`() async throws {
    try await withHeld { other, origin in
      try await withQueue { queue in
        let engine = try NetworkEngine(to: origin, on: queue)
        try engine.useCache(other.sharedCache)
        #expect(await engine.fetch("/a").text == "held")
        await blocking { queue.close() }
        #expect(await engine.fetch("/a").code == .engineClosed)
        await #expect(throws: NetworkError.self) {
          try await engine.response(for: NetworkRequest(url: origin.url("/a")))
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `what is cancelled or paused while it is enqueued gets none`(pauses: Bool) async throws {
    let enqueued = Mutex<NetworkOperation?>(nil)
    let ask: @Sendable (inout NetworkRequest) throws -> Void = { _ in
      let operation = enqueued.withLock { $0 }
      if pauses { operation?.pause() } else { operation?.cancel() }
    }
    try await withHeld(engine: { $0.prepare = ask }) { engine, origin in
      let operation = engine.operation(path: "/a")
      enqueued.withLock { $0 = operation }
      engine.enqueue(operation)
      if pauses {
        await engine.settle()
        #expect(operation.state == .paused)
        operation.resume()
      }
      let ending = await operation.end()
      #expect(pauses ? ending.text == "held" : ending.code == .cancelled)
      #expect(origin.requestCount == 1)
      enqueued.withLock { $0 = nil }
    }
  }

  @Test func `hits while the entry is replaced, removed and confirmed`() async throws {
    try await withHeld { engine, origin in
      let tally = Tally()
      let bodies = Journal<String>()
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for number in 0..<300 {
              let operation = engine.operation(path: "/a")
              if worker == 0, number % 10 == 0 { engine.removeCached(url: origin.url("/a")) }
              if worker == 1, number % 10 == 0 { operation.cachePolicy = .reload }
              tally.watch(operation)
              operation.onCompletion { if $0.text != "held" { bodies.add($0.text ?? "") } }
              engine.enqueue(operation)
            }
          }
        }
      }
      await tally.wait(for: 1200)
      #expect(tally.count("completed") == 1200 && tally.isOneEach && bodies.entries.isEmpty)
    }
  }

  /// With "held" at `/a`, fresh.
  @Test func `progress of a stored error, and of what stands in for one, ends once`() async throws {
    try await withCache { engine, origin, _ in
      let seen = Journal<TransferProgress>()
      func fetch(_ path: String) async -> Ending {
        await engine.end(of: engine.operation(path: path).onDownloadProgress { seen.add($0) })
      }
      origin.on("/gone", Answer(status: 404, body: .text("gone")).header("Cache-Control", "max-age=1000"))
      for _ in 1...2 { #expect(await fetch("/gone").failure?.response?.head.status == 404) }
      #expect(origin.requestCount == 1)
      origin.on("/old", .text("older").header("Cache-Control", "max-age=0, stale-if-error=60"))
      _ = await engine.fetch("/old")
      origin.on("/old", Answer(status: 503, body: .text("failed")))
      #expect(await fetch("/old").text == "older")
      #expect(seen.entries.map(\.done) == [4, 4, 5] && seen.entries.allSatisfy { $0.fraction == 1 })
    }
  }

  private func withHeld(
    engine configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withCache(engine: configure) { engine, origin, _ in
      origin.on("/a", .text("held").header("Cache-Control", "max-age=1000"))
      _ = await engine.fetch("/a")
      try await body(engine, origin)
    }
  }
}

extension HitDeliveryTests.Target {
  func delivery(_ own: DispatchQueue) -> NetworkEngine.Delivery {
    switch self {
    case .serialQueue: .serialQueue
    case .own: .queue(own)
    case .loopThread: .loopThread
    }
  }
}
