import Testing

@testable import NetSpool
@testable import TestSupport

/// No byte that came before a request was sent answers it (RFC 9112 section 9.2).
@Suite("Bytes that no request asked for", .needsPython, .ownThreads)
struct UnaskedBytesTests {
  @Test(
    arguments: ["surplus_together", "surplus_behind", "surplus_behind_chunks", "surplus_behind_no_content"],
    ["", "tls_"])
  func `answer no other request`(_ behaviour: String, _ prefix: String) async throws {
    let name = prefix + behaviour
    let server = try await blocking { try HostileServer(.http1) }
    defer { server.stop() }
    try await withCache(engine: { $0.tls.caFile = server.authority }) { engine, _, _ in
      // Given answers with others behind them, each on its own connection
      for (index, method) in [NetworkRequest.Method.get, .get, .post, .get].enumerated() {
        let url = server.url(name) + (index == 0 ? "" : "account")
        let answer = await engine.end(of: engine.operation(url: url, method: method))
        // When others are asked for, whatever their method, then each gets its own
        #expect(answer.text == "first" || answer.response?.status == 204, "\(answer)")
        // Bytes that come after a request was sent could be its answer.
        try await blocking { try server.waitUntilSent(name, connection: index + 1, number: 1) }
        try await Task.sleep(for: .milliseconds(30))
      }
      let requests = server.requests(name)
      for connection in 1...4 { #expect(!requests.contains("\(connection) 2"), "it was used again") }
    }
  }

  /// A paused transfer of the same queue does not blind the look at other connections.
  @Test func `answer no other request while a transfer is paused`() async throws {
    try await withHostileServer(.http1) { wire, server in
      let begun = Latch()
      let paused = wire.engine.operation(url: server.url("endless_body"))
        .addDownloadStream(DiscardDownloadStream()).onDownloadProgress { _ in begun.open() }
      wire.engine.enqueue(paused)
      await begun.opened()
      paused.pause()
      for name in ["surplus_behind", "tls_surplus_behind"] {
        _ = try await wire.answer(wire.engine.operation(url: server.url(name)))
        try await blocking { try server.waitUntilSent(name, connection: 1, number: 1) }
        try await Task.sleep(for: .milliseconds(30))
        #expect(try await wire.answer(wire.engine.operation(url: server.url(name))).text == "first")
      }
    }
  }

  @Test(arguments: ["old_chunks", "tls_old_chunks"])
  func `reads the chunks of HTTP 1_0 and closes`(_ name: String) async throws {
    try await withHostileServer(.http1) { wire, server in
      for _ in 0..<2 {
        #expect(await wire.result(of: wire.engine.operation(url: server.url(name))).text == "first")
      }
      #expect(server.requests(name) == ["1 1", "2 1"])
    }
  }
}
