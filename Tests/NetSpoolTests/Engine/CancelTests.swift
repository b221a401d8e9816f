import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Cancelling: whenever it comes, there is one ending, within few rounds of the loop.
@Suite struct CancelTests {
  /// On the loop's own thread, so that no other queue's delay counts.
  private func withEvents(
    queue: (inout NetworkQueue.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withEngine({ $0.delivery = .loopThread }, queue: queue, body)
  }

  /// Cancels it: the event comes at once.
  private func cancel(_ operation: NetworkOperation) async {
    let limit = LoopLimit(.zero)
    operation.onError { _ in limit.keep() }
    operation.cancel()
    limit.begin(for: operation)
    #expect(await operation.end().code == .cancelled)
    #expect(limit.isKept)
  }

  @Test func `before it is enqueued`() async throws {
    try await withEngine { engine, origin in
      let states = Journal<NetworkOperation.State>()
      let operation = engine.operation(path: "/a").onStateChange { states.add($0) }
      operation.cancel()
      #expect(await engine.end(of: operation).code == .cancelled)
      #expect(operation.state == .cancelled)
      #expect(states.entries == [.cancelled])
      #expect(origin.requestCount == 0)
    }
  }

  @Test func `while it waits`() async throws {
    try await withEvents(queue: { $0.isSuspended = true }) { engine, origin in
      let operation = engine.start("/a")
      await cancel(operation)
      engine.configuration.queue.isSuspended = false
      #expect(origin.requestCount == 0)
    }
  }

  @Test func `while the origin keeps it waiting, and the slot is free at once`() async throws {
    try await withEvents(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      // Given one that holds the only slot
      origin.on("/next", .text("next"))
      let operation = await engine.held("/held", at: origin)
      let limit = LoopLimit(.zero)
      let next = engine.operation(path: "/next").onStateChange { if $0 == .executing { limit.keep() } }
      engine.enqueue(next)
      // When
      await cancel(operation)
      limit.begin(for: next)
      // Then
      #expect(await next.end().text == "next")
      #expect(limit.isKept)
    }
  }

  @Test func `after the end it changes nothing`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("hello"))
      let operation = engine.operation(path: "/a")
      _ = await engine.end(of: operation)
      operation.cancel()
      #expect(operation.state == .finished)
      #expect(await operation.end().text == "hello")
    }
  }

  @Test func `while prepare runs on another thread, whether prepare succeeds or throws`() async throws {
    for throwsAfterwards in [false, true] {
      let begun = Latch()
      let go = Latch()
      try await withEngine({ configuration in
        configuration.prepare = { _ in
          begun.open()
          go.block()
          if throwsAfterwards { throw NetworkError(code: .invalidRequest, reason: "no") }
        }
      }) { engine, origin in
        let operation = engine.operation(path: "/a")
        let task = Task.detached { engine.enqueue(operation) }
        await begun.opened()
        operation.cancel()
        go.open()
        await task.value
        let expected: NetworkError.Code = throwsAfterwards ? .invalidRequest : .cancelled
        #expect(await operation.end().code == expected)
        // The queue has counted right: it can become idle.
        #expect(await engine.configuration.queue.drain(deadline: .seconds(60)))
        #expect(engine.configuration.queue.activity.queued == 0)
      }
    }
  }

  @Test func `a wait for a queue may be left`() async throws {
    try await withEvents { engine, origin in
      origin.on("/a", .noAnswer)
      let operation = engine.start("/a")
      let waiting = Task { await engine.configuration.queue.drain(deadline: .seconds(3_000)) }
      waiting.cancel()
      #expect(await !waiting.value)
      operation.cancel()
    }
  }

  @Test func `while it waits for another attempt`() async throws {
    try await withEvents { engine, origin in await cancel(engine.waitingAgain("/a", at: origin)) }
  }

  /// What is done to a million operations comes back for its next piece so often; each time must cost the same.
  @Test func `many have turn after turn for as long as it takes`() async throws {
    try await withQueue { queue in
      let rounds = await withCheckedContinuation { continuation in
        queue.driver.perform { scheduler in
          var rounds = 0
          scheduler.context.doInPieces {
            rounds += 1
            if rounds == 300_000 { continuation.resume(returning: rounds) }
            return rounds < 300_000
          }
        }
      }
      #expect(rounds == 300_000)
    }
  }

  @Test func `all of one engine, while the other goes on`() async throws {
    try await withEngine { engine, origin in
      // Given operations of two engines: running, waiting, waiting for another attempt, paused, blocked
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      origin.hold("/held")
      origin.on("/again", .status(503).header("Retry-After", "30"))
      let tally = Tally()
      let survivors = (0..<40).map { other.start(other.operation(path: "/held", parameters: ["n": "\($0)"])) }
      let mine = (0..<40).map { engine.operation(path: "/held", parameters: ["n": "\($0)"]) }
      let again = engine.operation(path: "/again").configure { $0.retry = .standard }
      let blocked = engine.operation(path: "/blocked").addDependency(mine[0])
      for operation in mine + [again, blocked] { tally.start(operation) }
      mine[39].pause()
      // When
      engine.cancelAll()
      await tally.wait(for: 42)
      // Then
      #expect(tally.count("cancelled") == 42)
      #expect(tally.isOneEach)
      origin.on("/held", .text("survived"))
      origin.releaseAll()
      for operation in survivors { #expect(await operation.end().text == "survived") }
    }
  }

  @Test func `by tag and by predicate, exactly those`() async throws {
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      origin.on(prefix: "/", .text("survived"))
      // So many that it takes the loop several turns to end them, and what may begin meanwhile could overtake it.
      let operations = (0..<4_000).map { number in
        let operation = engine.operation(path: "/\(number)")
        operation.tag = number % 40 != 1 && number % 40 != 5 ? "most" : nil
        return operation
      }
      for operation in operations { engine.enqueue(operation) }
      engine.cancel(tag: "most")
      engine.cancel { $0.request.url.hasSuffix("5") }
      engine.configuration.queue.isSuspended = false
      for (number, operation) in operations.enumerated() {
        #expect(await operation.end().code == (number % 40 == 1 ? nil : .cancelled))
      }
      #expect(Set(origin.requests.map(\.path)).count == 100)
    }
  }
}
