import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Limits of time, each in its phase. A limit is 300 ms, and what passes it ends within 100 ms: the loop looks twenty
/// times a second.
@Suite struct TimeoutTests {
  private static let limit = Duration.seconds(0.3)

  /// With events on the loop's own thread, so that no other queue's delay counts.
  private func withLimits(
    _ set: (inout NetworkRequest.Timeouts) -> Void = { _ in },
    queue: (inout NetworkQueue.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withEngine(
      {
        $0.delivery = .loopThread
        set(&$0.timeouts)
      }, queue: queue, body)
  }

  /// - Parameter isPhase: it does not count from the beginning, but from something that the loop learns later.
  private func expectTimeout(
    _ reason: String, _ operation: NetworkOperation, _ engine: NetworkEngine, isPhase: Bool = false
  ) async {
    let start = ContinuousClock.now
    let ending = await engine.end(of: operation, within: Self.limit + .milliseconds(isPhase ? 2_000 : 100))
    #expect(ending.code == .timedOut)
    #expect(ending.reason == reason)
    let time = ContinuousClock.now - start
    #expect(time >= Self.limit - .milliseconds(10), "\(reason) came after \(time)")
  }

  @Test func `connecting`() async throws {
    let hole = try BlackHole()
    try await withLimits({ $0.connect = Self.limit }) { engine, _ in
      let operation = engine.operation(url: "http://127.0.0.1:\(hole.port)/", method: .post)
      await expectTimeout("connect", operation, engine)
      let error = await operation.end().error
      #expect(error?.isOffline == true)
      #expect(error?.isRetrySafe == true)
    }
  }

  private static let dripping = Answer.text("never whole")
    .header("X-Long", String(repeating: "x", count: 5_000)).slice(1, every: .milliseconds(40))

  @Test(arguments: [.noAnswer, dripping])
  func `waiting for the head, also for one that drips`(_ answer: Answer) async throws {
    try await withLimits({ $0.headers = Self.limit }) { engine, origin in
      origin.on("/a", answer)
      let operation = engine.operation(path: "/a", method: .post)
      await expectTimeout("headers", operation, engine, isPhase: true)
      // The origin has it and may have acted on it.
      #expect(await operation.end().error?.isRetrySafe == false)
    }
  }

  @Test func `an upload whose source has nothing to give`() async throws {
    try await withLimits({ $0.headers = Self.limit }) { engine, origin in
      origin.on("/a", .text("too late"))
      let operation = engine.operation(path: "/a", method: .post)
      operation.setUploadStream(ScriptedUpload([.bytes([1])] + Array(repeating: .pause, count: 10_000)))
      await expectTimeout("headers", operation, engine, isPhase: true)
    }
  }

  @Test func `a body that stops`() async throws {
    try await withLimits({ $0.stall = Self.limit }) { engine, origin in
      origin.on("/a", .pattern(10_000).stallAfter(5_000))
      let (start, limit) = (ContinuousClock.now, LoopLimit(Self.limit + .milliseconds(2_000)))
      let operation = await engine.underWay("/a").onError { _ in limit.keep() }
      limit.begin(for: operation)
      let ending = await operation.end()
      #expect(limit.isKept && ending.code == .timedOut && ending.reason == "stall", "\(ending)")
      #expect(ContinuousClock.now - start >= Self.limit - .milliseconds(10))
    }
  }

  @Test func `the whole of it`() async throws {
    try await withLimits({ $0.total = Self.limit }) { engine, origin in
      origin.on("/a", .pattern(1 << 20).throttle(100_000))
      await expectTimeout("total", engine.operation(path: "/a"), engine)
    }
  }

  @Test(arguments: [true, false])
  func `waiting for a slot, by the engine's limit or its own`(isOwn: Bool) async throws {
    try await withLimits(
      { if !isOwn { $0.queueDeadline = Self.limit } }, queue: { $0.isSuspended = true }
    ) { engine, origin in
      let operation = engine.operation(path: "/a")
      if isOwn { operation.timeouts = .init(queueDeadline: Self.limit) }
      await expectTimeout("queueDeadline", operation, engine)
      #expect(origin.connectionCount == 0)
    }
  }

  @Test
  func `an operation that shares an exchange waits no longer than it said, unless that runs`() async throws {
    try await withLimits(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/a", .text("ok"))
      let blocker = await engine.held("/held", at: origin)
      let patient = engine.start("/a")
      let hasty = engine.operation(path: "/a")
      hasty.timeouts = .init(queueDeadline: Self.limit)
      await expectTimeout("queueDeadline", hasty, engine)
      blocker.cancel()
      #expect(await patient.end().text == "ok")
    }
  }

  @Test func `a slot in time ends the deadline, for all that share it`() async throws {
    try await withLimits({ $0.queueDeadline = Self.limit }) { engine, origin in
      origin.on("/a", .text("ok").delay(.milliseconds(600)))
      let operations = [engine.operation(path: "/a"), engine.operation(path: "/a")]
      await engine.share("/a", at: origin, operations)
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `a deadline outlives no operation: those that end first take it along`() async throws {
    try await withLimits({ $0.queueDeadline = .seconds(0.05) }, queue: { $0.isSuspended = true }) {
      engine, origin in
      // Given one blocked, one refused for its cycle, one cancelled, all with a deadline
      let never = engine.operation(path: "/never")
      for _ in 0..<50 {
        let blocked = engine.operation(path: "/a").addDependency(never)
        let other = engine.operation(path: "/a")
        engine.enqueue(blocked)
        engine.enqueue(other)
        blocked.cancel()
        other.cancel()
      }
      // When the deadline of a last one has passed
      let last = engine.operation(path: "/last")
      // Then nothing has trapped
      #expect(await engine.end(of: last).reason == "queueDeadline")
      #expect(origin.connectionCount == 0)
    }
  }
}
