import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

struct RetryTests {
  /// Lets the engine have an idle connection that the origin has just closed, as far as it can be known.
  private func withDeadConnection(
    _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withEngine(configure, queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/warm", .text("warm"))
      #expect(await engine.end(of: engine.operation(path: "/warm")).text == "warm")
      // The next request on this connection is read and answered with a FIN.
      origin.enqueue(.hangUp)
      try await body(engine, origin)
    }
  }

  @Test func `a GET on a connection that turns out dead is silently sent again`() async throws {
    try await withDeadConnection { engine, origin in
      origin.enqueue(.text("second"))
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.text == "second")
      #expect(ending.response?.metrics.attempts == 2)
      #expect(origin.hits("/a") == 2)
      #expect(origin.connectionCount == 2)
    }
  }

  /// libcurl repeats none whose body is under way, so it is repeated here.
  @Test func `a silent repeat in the middle of a body is told to no handler`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/warm", .text("warm"))
      #expect(await engine.end(of: engine.operation(path: "/warm")).text == "warm")
      origin.enqueue(
        Answer.text("lost").fault(.reset, at: .requestBody(1 << 20)), .text("second"), for: "/a")
      let heard = Counter()
      let operation = engine.operation(path: "/a", method: .put)
        .setBody(.bytes([UInt8](repeating: 7, count: 32 << 20))).onAttempt { _, _ in heard.add() }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "second" && ending.response?.metrics.attempts == 2, "\(ending)")
      #expect(heard.value == 0 && origin.hits("/a") == 2)
    }
  }

  @Test
  func `a new connection that is closed without a byte is a lost one, and the next attempt has another`()
    async throws
  {
    try await withEngine({ $0.retry = .attempts(2) }) { engine, origin in
      origin.enqueue(.hangUp, .text("second"))
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.text == "second" && ending.response?.metrics.attempts == 2, "\(ending)")
      #expect(origin.connectionCount == 2)
    }
  }

  enum Way: CaseIterable { case cancel, shutDown, redirect, repetition }

  /// Whatever became of the exchange that was the last.
  @Test(arguments: Way.allCases)
  func `a POST that the origin may have acted upon is not safe to send again`(_ way: Way) async throws {
    let closed = try ScriptedOrigin()
    closed.stop()
    try await withEngine { engine, origin in
      let operation = engine.operation(path: "/a", method: .post)
      switch way {
      case .cancel, .shutDown:
        origin.hold("/a")
        engine.enqueue(operation)
        #expect(await origin.waitForHits("/a", 1))
        if way == .cancel { operation.cancel() } else { await engine.shutDown(deadline: .zero) }
      case .redirect:
        origin.on("/a", .status(303).header("Location", closed.url("/b")))
        engine.enqueue(operation)
      case .repetition:
        operation.configure { ($0.idempotencyKey, $0.retry) = ("k", .attempts(2, pause: .seconds(1))) }
        origin.on("/a", .hangUp)
        operation.onAttempt { _, _ in origin.stop() }
        engine.enqueue(operation)
      }
      let error = try #require(await operation.end().error)
      let codes: [Way: NetworkError.Code] = [
        .cancel: .cancelled, .shutDown: .engineClosed, .redirect: .connectFailed,
      ]
      // On a busy machine the repetition comes before the origin has gone.
      #expect(error.code == codes[way] ?? error.code && !error.isRetrySafe, "\(error)")
    }
  }

  @Test func `a key that stays behind at a redirect makes nothing repeatable`() async throws {
    let other = try ScriptedOrigin(answering: .status(503))
    try await withEngine({ $0.retry = .attempts(2, pause: .milliseconds(1)) }) { engine, origin in
      origin.on("/a", .status(307).header("Location", other.url("/b")))
      let operation = engine.operation(path: "/a", method: .post).configure { $0.idempotencyKey = "k" }
      #expect(await engine.end(of: operation).code == .status)
      #expect(other.requests.map { $0.header("Idempotency-Key") } == [nil])
    }
  }

  @Test func `an equal request does not wait for the repetition of another`() async throws {
    try await withEngine({ $0.retry = .standard }) {
      $0.sizing = .fixed(6)
    } _: { engine, origin in
      // No test waits for so long
      origin.enqueue(.status(503).header("Retry-After", "3000"), for: "/a")
      origin.on("/a", .text("ok"))
      let isPutOff = Latch()
      let first = engine.operation(path: "/a").onAttempt { _, _ in isPutOff.open() }
      first.timeouts.total = nil
      engine.enqueue(first)
      await isPutOff.opened()
      await engine.settle()
      #expect(await engine.get("/a").end().text == "ok")
      first.cancel()
    }
  }

  @Test(arguments: [true, false])
  func `a 429 takes nothing of the budget of repetitions where the width is found`(_ isFound: Bool)
    async throws
  {
    try await withEngine({ $0.retry = .attempts(2, pause: .milliseconds(1)) }) {
      $0.sizing = isFound ? .adaptive : .fixed(6)
    } _: { engine, origin in
      origin.fallback(.text("ok"))
      // One after the other, and so that refusals do not look like chance: one in three.
      var failures = 0
      for number in 0..<60 {
        if number % 3 == 0 { origin.enqueue(.status(429), for: "/\(number)") }
        if await engine.end(of: engine.operation(path: "/\(number)")).text != "ok" { failures += 1 }
      }
      #expect(isFound ? failures == 0 : failures > 0, "\(failures)")
    }
  }

  @Test func `a GET is not sent again when that is switched off`() async throws {
    try await withDeadConnection({ $0.retry = .none }) { engine, origin in
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .connectionLost)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test(arguments: [NetworkRequest.Retry.deadConnection, .standard, .attempts(5)])
  func `a POST is never sent again`(retry: NetworkRequest.Retry) async throws {
    try await withDeadConnection({ $0.retry = retry }) { engine, origin in
      let operation = engine.operation(path: "/a", method: .post).setBody(.bytes(Array("money".utf8)))
      let ending = await engine.end(of: operation)
      #expect(ending.code == .connectionLost)
      #expect(ending.error?.isRetrySafe == false)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `an idempotency key makes a POST repeatable, with the same key`() async throws {
    try await withEngine({ $0.retry = .attempts(3) }) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "0"), .text("done"))
      let operation = engine.operation(path: "/a", method: .post).setBody(.bytes(Array("money".utf8)))
        .configure { $0.idempotencyKey = "k-1" }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "done")
      #expect(ending.response?.metrics.attempts == 2)
      #expect(origin.requests.map { $0.header("Idempotency-Key") } == ["\"k-1\"", "\"k-1\""])
      #expect(origin.requests.map(\.text) == ["money", "money"])
    }
  }

  @Test func `Retry-After is the least wait`() async throws {
    try await withEngine({ $0.retry = .standard }) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "1"), .text("done"))
      let start = ContinuousClock.now
      let states = Journal<NetworkOperation.State>()
      let operation = engine.operation(path: "/a").onStateChange { states.add($0) }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "done")
      #expect(ContinuousClock.now - start >= .milliseconds(990))
      #expect(ending.response?.metrics.attempts == 2)
      #expect(states.entries == [.queued, .executing, .queued, .executing, .finished])
    }
  }

  @Test func `after the last attempt the answer is the error`() async throws {
    try await withEngine({ $0.retry = .attempts(2) }) { engine, origin in
      origin.on("/a", .text("busy", status: 503).header("Retry-After", "0"))
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.code == .status)
      #expect(ending.error?.response?.text == "busy")
      #expect(ending.error?.attempts == 2 && ending.error?.response?.metrics.attempts == 2)
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [400, 401, 404, 410, 501])
  func `an answer that will not change is not asked for again`(status: Int) async throws {
    try await withEngine({ $0.retry = .standard }) { engine, origin in
      origin.on("/a", .status(status))
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .status)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `a body that a stream has seen the beginning of is not fetched again`() async throws {
    try await withEngine({ $0.retry = .standard }) { engine, origin in
      origin.on("/a", .pattern(100_000).closeAfter(50_000))
      let stream = MemoryDownloadStream()
      let operation = engine.operation(path: "/a").addDownloadStream(stream)
      #expect(await engine.end(of: operation).code == .bodyTruncated)
      #expect(origin.hits("/a") == 1)
      #expect(!stream.isWhole)
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `a stream that has seen the beginning takes no attempt from another that shares`(
    isFirst: Bool, fails: Bool
  ) async throws {
    try await withEngine({ $0.retry = .attempts(2, pause: .zero) }) { engine, origin in
      let broken = Answer.pattern(100_000).fault(.gate("middle"), at: .body(40_000)).closeAfter(50_000)
      origin.enqueue(broken, .pattern(100_000), for: "/a")
      let streaming = engine.operation(path: "/a")
      streaming.addDownloadStream(
        ClosureDownloadStream { _ in
          if fails { throw PartFailure("full") }
          return .accepted
        })
      let plain = engine.operation(path: "/a")
      await engine.share("/a", at: origin, isFirst ? [streaming, plain] : [plain, streaming])
      // It has failed, and left, before the body breaks off
      if fails { #expect(await streaming.end().code == .sinkFailed) }
      #expect(await origin.waitForWaiting("middle", 1))
      origin.release("middle")
      #expect(await streaming.end().code == (fails ? .sinkFailed : .bodyTruncated))
      let ending = await plain.end()
      #expect(ending.response?.body.count == 100_000 && ending.response?.metrics.attempts == 2, "\(ending)")
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test func `all who share an exchange share its attempts`() async throws {
    try await withEngine({ $0.retry = .attempts(3) }) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "0"), .text("done"), for: "/a")
      let operations = (0..<10).map { _ in engine.operation(path: "/a") }
      await engine.share("/a", at: origin, operations)
      for operation in operations {
        let end = await operation.end()
        #expect(end.text == "done", "\(end)")
      }
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [false, true])
  func `a request that comes while an attempt is given up shares the next`(streams: Bool) async throws {
    try await withEngine({ $0.retry = .attempts(3) }) { engine, origin in
      // A busy machine may miss the moment between the head and the end of the attempt
      for round in 0..<50 {
        let path = "/\(round)"
        let busy = Answer.text("busy", status: 503).header("Retry-After", "0")
        origin.enqueue(busy.fault(.gate(path), at: .body(2)), .text("done"), for: path)
        let first = engine.start(path)
        #expect(await origin.waitForWaiting(path, 1))
        let stream = MemoryDownloadStream()
        let late = engine.operation(path: path)
        if streams { late.addDownloadStream(stream) }
        guard await first.isFollowed(by: late) else {
          origin.release(path)
          continue
        }
        await engine.settle()
        origin.release(path)
        #expect(await first.end().text == "done")
        let end = await late.end()
        #expect((streams ? String(decoding: stream.bytes, as: UTF8.self) : end.text) == "done")
        #expect(origin.hits(path) == 2)
        return
      }
      Issue.record("no attempt was seen with its head")
    }
  }
}

extension NetworkOperation {
  /// Enqueues another once the loop has read the head of the answer to this one; false when it has ended before.
  fileprivate func isFollowed(by other: NetworkOperation) async -> Bool {
    while shared.withLock({ $0.outcome == nil }) {
      let hasHead = await port.onLoop(of: engine.id) { [self] _ in
        let hasHead = loop.transfer?.exchange.head != nil
        if hasHead { other.engine.enqueue(other) }
        return hasHead
      }
      if hasHead { return true }
      await moment()
    }
    return false
  }
}
