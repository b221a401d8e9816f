import Testing

@testable import NetSpool
@testable import TestSupport

/// What a TLS handshake costs is the loop's to pay.
@Suite(.needsPython, .ownThreads, .measured) struct HandshakesTests {
  @Test func `forty at once keep no other engine waiting`() async throws {
    try await withHostileServer(.http1, alone: true) { wire, server in
      wire.queue.sizing = .fixed(64)
      // Given forty that each need a connection of their own, because none of their answers ends
      let operations = (0..<40).map {
        wire.engine.operation(url: "\(server.url("tls_head_alone"))?\($0)")
          .addDownloadStream(ClosureDownloadStream { _ in .accepted })
      }
      wire.engine.enqueue(operations)
      let clock = await LoopClock(wire.queue)
      // Then another engine is answered meanwhile
      try await expectAnswer(on: wire.queue)
      let deadline = Deadline.generous
      while server.requests("tls_head_alone").count < 40, deadline.millisecondsLeft > 0 {
        try await expectAnswer(on: wire.queue)
      }
      #expect(server.requests("tls_head_alone").count == 40)
      expect(await clock.longestTurn, within: workMax)
    }
  }
}
