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
    try await withHostileServer(.http1, alone: true) { wire, server in
      wire.queue.sizing = .fixed(16)
      // Given transfers that are under way
      let operations = (0..<count).map { Self.download("\(server.url(behaviour))?\($0)", wire) }
      let clock = await LoopClock(wire.queue)
      #expect(await Self.arrives(operations), "\(operations.map(\.state))")
      // When another engine of the queue wants something, then it is served soon
      try await Self.expectShared(wire.queue, clock)
      for operation in operations { operation.cancel() }
      for operation in operations { _ = await operation.end() }
    }
  }

  /// They wait for the first connection, which may be HTTP/2 and serve them all, and not for the end of what it brings.
  @Test func `gives others their own connections when the first over TLS is HTTP1`() async throws {
    try await withHostileServer(.http1, alone: true) { wire, server in
      wire.queue.sizing = .fixed(16)
      // Given answers that never end, asked for at once
      let operations = (0..<5).map { Self.download("\(server.url("tls_endless_body"))?\($0)", wire) }
      // Then each has its own connection soon
      #expect(await Self.arrives(operations), "\(operations.map(\.state))")
      for operation in operations { operation.cancel() }
      for operation in operations { _ = await operation.end() }
    }
  }

  @Test func `takes commands while an HTTP2 body comes as fast as can be`() async throws {
    let server = try await blocking { try HostileServer.sharedHTTP2() }
    try await withWire({ $0.tls.caFile = server.authority }, alone: true) { wire in
      wire.queue.sizing = .fixed(16)
      let operations = (0..<4).map { Self.download("\(server.url("body_endless"))?\($0)", wire) }
      let clock = await LoopClock(wire.queue)
      #expect(await Self.arrives(operations), "\(operations.map(\.state))")
      try await Self.expectShared(wire.queue, clock)
      for operation in operations { operation.cancel() }
      for operation in operations { _ = await operation.end() }
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
    let server = try await blocking { try HostileServer.sharedHTTP2() }
    try await withWire(
      {
        ($0.tls.caFile, $0.retry, $0.delivery) = (server.authority, .none, .loopThread)
        $0.timeouts.total = .seconds(2)
      }, alone: true
    ) { wire in
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

  private static func download(_ url: String, _ wire: Wire) -> NetworkOperation {
    let operation = wire.engine.operation(url: url).addDownloadStream(
      ClosureDownloadStream { _ in .accepted })
    wire.engine.enqueue(operation)
    return operation
  }

  /// All have begun to get a body.
  private static func arrives(_ operations: [NetworkOperation]) async -> Bool {
    let deadline = Deadline.generous
    for operation in operations {
      while await operation.loopBytes() == 0 {
        // A flood beyond all windows may have been ended already, where the machine is busy.
        if operation.state == .finished { break }
        guard deadline.millisecondsLeft > 0 else { return false }
      }
    }
    return true
  }
}

extension NetworkOperation {
  /// The body bytes that have come.
  fileprivate func loopBytes() async -> Int64 {
    await port.onLoop(of: engine.id) { _ in self.loop.transfer?.bodyBytes ?? 0 }
  }
}
