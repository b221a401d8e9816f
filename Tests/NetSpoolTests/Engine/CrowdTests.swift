import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What one guest has tens of thousands of, beside another guest.
@Suite(.measuresTime) struct CrowdTests {
  /// What the loop does at most until it takes a command of somebody else, in so much time.
  private func longestWait(_ queue: NetworkQueue, _ clock: LoopClock, for time: Duration) async -> Duration {
    let deadline = ContinuousClock.now + time
    var longest = Duration.zero
    while ContinuousClock.now < deadline {
      let start = clock.now
      let end = await withCheckedContinuation { continuation in
        queue.driver.perform(of: QueueDriver.Command.house) { _ in continuation.resume(returning: clock.now) }
      }
      longest = max(longest, end - start)
    }
    return longest
  }

  private func operations(_ count: Int, of engine: NetworkEngine) -> [NetworkOperation] {
    (0..<count).map { _ in engine.operation(path: "/").configure { $0.coalesces = false } }
  }

  @Test func `one that waits for thirty thousand holds the loop up for nobody`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/")
      let engine = try NetworkEngine(to: origin, on: queue)
      let clock = await LoopClock(queue)
      let others = operations(30_000, of: engine)
      let last = engine.operation(path: "/last")
      for other in others { last.addDependency(other) }
      async let beginning = longestWait(queue, clock, for: .seconds(2))
      engine.enqueue(last)
      expect(await beginning, within: answerMax)
      async let ending = longestWait(queue, clock, for: .seconds(1))
      last.cancel()
      #expect(await last.end().code == .cancelled)
      expect(await ending, within: answerMax)
    }
  }

  @Test(arguments: [true, false])
  func `thirty thousand that wait for one name hold the loop up for nobody`(_ isFound: Bool) async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.on("/", .text("ok"))
      let answers = Latch()
      queue.driver.eachLoop {
        $0.names = NameResolver { _ in
          answers.block()
          return isFound ? ["127.0.0.1"] : nil
        }
      }
      let engine = try NetworkEngine(to: origin, on: queue) {
        $0.timeouts.connect = .seconds(120)
      }
      let clock = await LoopClock(queue)
      let others = (0..<30_000).map { _ in
        engine.operation(url: origin.url("/", host: "one.test")).configure { $0.coalesces = false }
      }
      engine.enqueue(others)
      _ = await clock.wait()
      async let longest = longestWait(queue, clock, for: .seconds(1))
      answers.open()
      let first = await others[0].end()
      if isFound { #expect(first.text == "ok") } else { #expect(first.code == .resolveFailed) }
      expect(await longest, within: answerMax)
    }
  }

  @Test func `thirty thousand that wait for one hold the loop up for nobody`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.on("/first", .text("ok"))
      origin.hold("/")
      let engine = try NetworkEngine(to: origin, on: queue)
      let clock = await LoopClock(queue)
      let first = engine.operation(path: "/first")
      let others = operations(30_000, of: engine)
      for other in others { other.addDependency(first) }
      engine.enqueue(others)
      _ = await clock.wait()
      async let longest = longestWait(queue, clock, for: .seconds(2))
      #expect(await engine.end(of: first).text == "ok")
      expect(await longest, within: answerMax)
      engine.cancelAll()
      _ = await others.last?.end()
    }
  }

  @Test func `equal ones join one under way as fast as different ones begin to wait`() async throws {
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/equal")
      origin.hold("/other")
      let engine = try NetworkEngine(to: origin, on: queue)
      let leader = engine.operation(path: "/equal")
      engine.enqueue(leader)
      #expect(await origin.waitForRequests(1))
      func time(_ make: (Int) -> NetworkOperation) async -> Duration {
        let operations = (0..<20_000).map(make)
        let start = ContinuousClock.now
        engine.enqueue(operations)
        await withCheckedContinuation { continuation in
          queue.driver.perform(of: engine.id) { _ in continuation.resume() }
        }
        return ContinuousClock.now - start
      }
      let different = await time { engine.operation(path: "/other?\($0)") }
      let equal = await time { _ in engine.operation(path: "/equal") }
      #expect(equal < different * 4)
    }
  }

  @Test func `an answer that thirty thousand share holds the loop up for nobody`() async throws {
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let origin = try ScriptedOrigin()
      origin.on("/equal", .text("ok"))
      origin.hold("/equal")
      let engine = try NetworkEngine(to: origin, on: queue)
      let leader = engine.operation(path: "/equal")
      engine.enqueue(leader)
      #expect(await origin.waitForRequests(1))
      let clock = await LoopClock(queue)
      let others = (0..<30_000).map { _ in engine.operation(path: "/equal") }
      engine.enqueue(others)
      await withCheckedContinuation { continuation in
        queue.driver.perform(of: engine.id) { _ in continuation.resume() }
      }
      async let longest = longestWait(queue, clock, for: .seconds(2))
      origin.release("/equal")
      for operation in [leader, others[0], others[29_999]] { #expect(await operation.end().text == "ok") }
      expect(await longest, within: answerMax)
      #expect(origin.hits("/equal") == 1)
    }
  }

  @Test func `those who wait for an origin leave as fast as those who wait for a place`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/held")
      let engine = try NetworkEngine(to: origin, on: queue)
      func timeToCancel(_ make: (Int) -> NetworkOperation) async throws -> Duration {
        let operations = (0..<10_000).map(make)
        engine.enqueue(operations)
        try await Task.sleep(for: .seconds(3))
        let start = ContinuousClock.now
        for operation in operations { operation.cancel() }
        for operation in operations { #expect(await operation.end().code == .cancelled) }
        return ContinuousClock.now - start
      }
      // What else runs on the machine may stretch one of the two: the least of three ratios counts.
      var ratio = Double.infinity
      for _ in 0..<3 where ratio >= 4 {
        let queued = try await timeToCancel { engine.operation(path: "/held?\($0)") }
        let waiting = try await timeToCancel {
          engine.operation(url: "http://127.0.0.1:1/\($0)").configure { $0.waitsForOrigin = true }
        }
        ratio = min(ratio, waiting / queued)
      }
      #expect(ratio < 4)
    }
  }

  /// Idle origins are forgotten, which those that wait have nothing to do with.
  @Test func `many new origins hold the loop up for nobody, however many operations wait`() async throws {
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let origin = try ScriptedOrigin()
      origin.hold("/")
      let (many, other) = (try NetworkEngine(to: origin, on: queue), try NetworkEngine(to: origin, on: queue))
      let waiting = operations(60_000, of: many)
      many.enqueue(waiting)
      let clock = await LoopClock(queue)
      _ = await clock.wait()
      async let longest = longestWait(queue, clock, for: .seconds(2))
      // Nobody listens there.
      let hosts = (0..<1_500).map { other.operation(url: "http://127.2.\($0 / 250).\($0 % 250 + 1):9/") }
      other.enqueue(hosts)
      for host in hosts { #expect(await host.end().code == .connectFailed) }
      #expect(queue.budgets.origins.held < 1_024)
      expect(await longest, within: answerMax)
      many.cancelAll()
      _ = await waiting.last?.end()
    }
  }
}
