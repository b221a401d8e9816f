import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// HTTP/2 alone.
@Suite struct HTTP2Tests {
  @Test func `a hundred at once share a connection`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let client = try Client(origin) { $0.queue.maximumPerOrigin = 100 }
    origin.fallback { .text($0.path) }
    #expect(try await client.get("first").text == "/first")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          let text = try await client.get("\(number)").text
          #expect(text == "/\(number)")
        }
      }
      try await group.waitForAll()
    }
    #expect(origin.connectionCount == 1)
    #expect(origin.requests.map(\.indexOnConnection) == Array(0...100))
  }

  @Test func `a connection that is to close takes no more requests`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let client = try Client(origin)
    origin.fallback(Answer.text("bye").closing())
    #expect(try await client.get("").text == "bye")
    #expect(await origin.waitForOpenConnections(0))
    #expect(try await client.get("").text == "bye")
    #expect(origin.connectionCount == 2)
  }

  @Test func `a client may speak it without TLS`() async throws {
    let origin = try ScriptedOrigin()
    let client = try Client(origin) { $0.httpVersion = .http2PriorKnowledge }
    origin.fallback { .text("\($0.version.rawValue) \($0.bodyCount)") }
    #expect(try await client.engine.post("", body: .bytes([1, 2, 3])).text == "HTTP/2 3")
  }

  @Test func `a script that stops reading stops the client`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let client = try Client(origin)
    origin.on("/slow", Answer.text("thanks").fault(.gate("read on"), at: .requestBody(1_000)))
    let sent = [UInt8](repeating: 7, count: 1 << 20)
    let operation = client.engine.operation(path: "slow", method: .post).setBody(.bytes(sent))
    let most = Counter()
    operation.onUploadProgress { most.raise(to: Int($0.done)) }
    async let response = client.engine.response(for: operation)
    #expect(await origin.waitForWaiting("read on", 1))
    #expect(most.value < sent.count)
    origin.release("read on")
    #expect(try await response.text == "thanks")
    #expect(origin.requests.first?.bodyCount == sent.count)
  }

  /// One origin for all: no behaviour may harm the origin that shows it.
  @Test func `the hostile catalogue harms no origin`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    origin.serveHostile()
    let client = try Client(origin) {
      $0.timeouts.total = .milliseconds(300)
      $0.redirects = .none
    }
    for behaviour in HostileCatalogue.all {
      let body: NetworkRequest.Body = behaviour.method == "POST" ? .bytes([1, 2, 3, 4]) : .none
      var request = NetworkRequest(
        path: String(behaviour.path.dropFirst()), method: NetworkRequest.Method(behaviour.method), body: body)
      for field in behaviour.requestHeaders { request.headers[field.name] = field.value }
      _ = try? await client.engine.response(for: request)
      #expect(origin.hits(behaviour.path) > 0, "\(behaviour)")
    }
    #expect(try await client.get("hostile/ok").text == "ok")
  }
}
