import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What one guest has tens of thousands of, beside another guest.
@Suite(.measured, .notSanitized(.timeIsNoMeasure)) struct CrowdTests {
  /// Neither a turn nor the wait of somebody else's command is longer than is promised, until `body` has run.
  private func expectShared(_ clock: LoopClock, during body: () async throws -> Void) async throws {
    expect(try await clock.longestWait(during: body), within: workMax)
    expect(await clock.longestTurn, within: workMax)
  }

  /// Waits until the loop has taken all that the engine has sent.
  private func take(_ engine: NetworkEngine) async {
    await engine.driver.port(of: engine.driver.home).onLoop(of: engine.id) { _ in }
  }

  /// Waits until one waits for its origin, behind those before it.
  private func awaitsOrigin(_ operation: NetworkOperation) async {
    _ = await until {
      await operation.port.onLoop(of: operation.engine.id) { _ in
        if case .origin? = operation.currentWait?.reason { true } else { false }
      }
    }
  }

  @Test func `an operation that waits for twenty thousand does not hold the loop up`() async throws {
    try await withEngine { engine, origin in
      origin.hold("/")
      let clock = await LoopClock(engine.configuration.queue)
      let others = engine.apart(20_000)
      let last = engine.operation(path: "/last")
      for other in others { last.addDependency(other) }
      try await expectShared(clock) {
        engine.enqueue(last)
        await take(engine)
        last.cancel()
        #expect(await last.end().code == .cancelled)
      }
    }
  }

  @Test(arguments: [true, false])
  func `twenty thousand that wait for a name do not hold the loop up`(_ isFound: Bool) async throws {
    try await withEngine({ $0.timeouts.connect = .seconds(120) }) { engine, origin in
      origin.on("/", .text("ok"))
      let answers = Latch()
      engine.driver.eachLoop {
        $0.names.resolver = NameResolver { _ in
          answers.block()
          return isFound ? ["127.0.0.1"] : nil
        }
      }
      let clock = await LoopClock(engine.configuration.queue)
      let others = (0..<20_000).map { _ in
        engine.operation(url: origin.url("/", host: "one.test")).configure { $0.coalesces = false }
      }
      engine.enqueue(others)
      _ = await clock.wait()
      try await expectShared(clock) {
        answers.open()
        for other in others.prefix(isFound ? 1_000 : 20_000) {
          let ending = await other.end()
          if isFound { #expect(ending.text == "ok") } else { #expect(ending.code == .resolveFailed) }
        }
      }
    }
  }

  @Test func `twenty thousand that wait for an operation do not hold the loop up`() async throws {
    try await withEngine { engine, origin in
      origin.on("/first", .text("ok"))
      origin.hold("/")
      let clock = await LoopClock(engine.configuration.queue)
      let first = engine.operation(path: "/first")
      let others = engine.apart(20_000)
      for other in others { other.addDependency(first) }
      engine.enqueue(others)
      _ = await clock.wait()
      try await expectShared(clock) {
        #expect(await engine.end(of: first).text == "ok")
        #expect(await origin.waitForWaiting("/", 16))
        await take(engine)
      }
      engine.cancelAll()
      _ = await others.last?.end()
    }
  }

  @Test func `equal ones join one under way as fast as different ones begin to wait`() async throws {
    try await withEngine(queue: { $0.loops = .fixed(1) }) { engine, origin in
      origin.hold("/equal")
      origin.hold("/other")
      engine.start("/equal")
      #expect(await origin.waitForRequests(1))
      let clock = await LoopClock(engine.configuration.queue)
      func work(_ make: (Int) -> NetworkOperation) async -> Duration {
        let operations = (0..<20_000).map(make)
        let start = clock.now
        engine.enqueue(operations)
        await take(engine)
        return clock.now - start
      }
      let different = await work { engine.operation(path: "/other?\($0)") }
      let equal = await work { _ in engine.operation(path: "/equal") }
      expect(equal, within: different * 4)
    }
  }

  @Test func `an answer that twenty thousand share does not hold the loop up`() async throws {
    try await withEngine(queue: { $0.loops = .fixed(1) }) { engine, origin in
      origin.hold("/equal", .text("ok"))
      let leader = engine.start("/equal")
      #expect(await origin.waitForRequests(1))
      let clock = await LoopClock(engine.configuration.queue)
      let others = engine.start((0..<20_000).map { _ in engine.operation(path: "/equal") })
      await take(engine)
      try await expectShared(clock) {
        origin.release("/equal")
        for operation in [leader] + others { #expect(await operation.end().text == "ok") }
      }
      #expect(origin.hits("/equal") == 1)
    }
  }

  @Test func `waits for an origin are left as fast as waits for a place`() async throws {
    try await withEngine(queue: { $0.loops = .fixed(1) }) { engine, origin in
      origin.hold("/held")
      let clock = await LoopClock(engine.configuration.queue)
      func workToCancel(awaitingOrigin: Bool, _ make: (Int) -> NetworkOperation) async -> Duration {
        let operations = engine.start((0..<10_000).map(make))
        if awaitingOrigin { await awaitsOrigin(operations[9_999]) } else { await take(engine) }
        let start = clock.now
        for operation in operations { operation.cancel() }
        for operation in operations { #expect(await operation.end().code == .cancelled) }
        return clock.now - start
      }
      let queued = await workToCancel(awaitingOrigin: false) { engine.operation(path: "/held?\($0)") }
      let waiting = await workToCancel(awaitingOrigin: true) {
        engine.operation(url: "http://127.0.0.1:1/\($0)").configure { $0.waitsForOrigin = true }
      }
      expect(waiting, within: queued * 4, "\(queued)")
    }
  }

  /// Idle origins are forgotten, which those that wait have nothing to do with.
  @Test func `many new origins do not hold the loop up, however many operations wait`() async throws {
    try await withEngine(queue: { $0.loops = .fixed(1) }) { many, origin in
      origin.hold("/")
      let queue = many.configuration.queue
      let other = try NetworkEngine(to: origin, on: queue)
      let waiting = many.start(many.apart(60_000))
      let clock = await LoopClock(queue)
      _ = await clock.wait()
      try await expectShared(clock) {
        // Nobody listens there.
        let hosts = (0..<1_500).map { other.operation(url: "http://127.2.\($0 / 250).\($0 % 250 + 1):9/") }
        other.enqueue(hosts)
        for host in hosts { #expect(await host.end().code == .connectFailed) }
        #expect(await until { queue.budgets.origins.held < 1_024 })
      }
      many.cancelAll()
      _ = await waiting.last?.end()
    }
  }
}
