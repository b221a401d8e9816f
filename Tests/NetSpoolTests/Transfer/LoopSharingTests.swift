import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// No origin, however fast or hostile, keeps the loop from the others for more than 50 ms (RELIABILITY, isolation).
@Suite("A loop that is shared", .needsPython, .ownThreads, .measured)
struct LoopSharingTests {
  /// Bytes without end: the loop reads as fast as it can.
  @Test(arguments: ["endless_body", "tls_endless_body", "endless_chunks", "tls_endless_chunks"], [1, 8])
  func `takes commands while bodies come as fast as can be`(_ behaviour: String, _ count: Int) async throws {
    try await Self.expectShared(beside: count, behaviour, over: .http1)
  }

  @Test func `takes commands while an HTTP2 body comes as fast as can be`() async throws {
    try await Self.expectShared(beside: 4, "body_endless", over: .http2)
  }

  private static func expectShared(
    beside count: Int, _ behaviour: String, over version: HostileServer.Version
  ) async throws {
    try await withHostileServer(version, alone: true) { wire, server in
      wire.queue.sizing = .fixed(16)
      // Given transfers that are under way. Over TLS all wait for the first connection, which may be HTTP/2 and serve them,
      // and not for the end of what it brings.
      let operations = (0..<count).map { number in
        wire.engine.operation(url: "\(server.url(behaviour))?\(number)")
          .addDownloadStream(ClosureDownloadStream { _ in .accepted })
      }
      for operation in operations { wire.engine.enqueue(operation) }
      let clock = await LoopClock(wire.queue)
      for operation in operations {
        // A flood beyond all windows may have been ended already, where the machine is busy.
        let isThere = await until { await operation.loopBytes() > 0 || operation.state == .finished }
        #expect(isThere, "\(operation.state)")
      }
      // When another engine of the queue wants something, then it is served soon
      try await expectShared(wire.queue, clock)
    }
  }

  /// What is no body: nobody waits for it, and it ends by itself.
  @Test(
    arguments: [
      ("endless_extension", NetworkError.Code.badChunk), ("tls_endless_extension", .badChunk),
      ("endless_informational", .tooManyInformational), ("tls_endless_trailers", .headersTooLarge),
    ])
  func `ends an answer that is nothing but framing`(_ behaviour: String, _ code: NetworkError.Code)
    async throws
  {
    try await withHostileServer(.http1, alone: true) { wire, server in
      let clock = await LoopClock(wire.queue)
      let operation = wire.engine.operation(url: server.url(behaviour))
      async let ending = wire.engine.end(of: operation)
      try await Self.expectShared(wire.queue, clock)
      #expect(await ending.code == code)
      expect(await clock.longestTurn, within: workMax)
    }
  }

  /// libcurl 7.88 stays inside one call for as long as they come.
  @Test(arguments: ["priority_endless", "empty_data_endless", "unknown_endless"])
  func `ends a flood of frames that belong to no body`(_ behaviour: String) async throws {
    try await withHostileServer(
      .http2, alone: true, { ($0.retry, $0.delivery, $0.timeouts.total) = (.none, .loopThread, .seconds(2)) }
    ) { wire, server in
      let clock = await LoopClock(wire.queue)
      let operation = wire.engine.operation(url: server.url(behaviour))
      async let ending = wire.engine.end(of: operation, within: .milliseconds(2_100))
      try await Self.expectShared(wire.queue, clock)
      let error = await ending.error
      // Where the sender pauses to take breath, the loop is not held, and the limit of time ends it.
      let isFlood = error?.code == .http2Failed && error?.reason == "flood"
      #expect(isFlood || error?.code == .timedOut, "\(String(describing: error))")
      expect(await clock.longestTurn, within: workMax)
    }
  }

  /// A limit of time holds, however many bytes come.
  @Test(arguments: ["endless_body", "tls_endless_chunks"])
  func `ends at a limit within a tenth of a second`(_ behaviour: String) async throws {
    try await withHostileServer(.http1, alone: true, { $0.delivery = .loopThread }) { wire, server in
      let operation = wire.engine.operation(url: server.url(behaviour))
        .addDownloadStream(ClosureDownloadStream { _ in .accepted })
      operation.timeouts = .init(total: .seconds(0.4))
      let ending = await wire.engine.end(of: operation, within: .milliseconds(500))
      #expect(ending.code == .timedOut && ending.reason == "total", "\(ending)")
    }
  }

  private static func expectShared(_ queue: NetworkQueue, _ clock: LoopClock) async throws {
    for _ in 0..<3 { try await expectAnswer(on: queue) }
    expect(await clock.longestTurn, within: workMax)
  }
}

extension NetworkOperation {
  /// The body bytes that have come.
  func loopBytes() async -> Int64 {
    await port.onLoop(of: engine.id) { _ in self.loop.transfer?.bodyBytes ?? 0 }
  }
}
