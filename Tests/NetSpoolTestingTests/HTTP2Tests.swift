import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// HTTP/2 alone.
@Suite struct HTTP2Tests {
  @Test func `a hundred at once share a connection`() async throws {
    let (origin, client) = try Carrier.http2.pair { $0.queue.maximumPerOrigin = 100 }
    origin.fallback { .text($0.path) }
    #expect(try await client.get("first").text == "/first")
    try await atOnce(100) { number in
      let text = try await client.get("\(number)").text
      #expect(text == "/\(number)")
    }
    #expect(origin.connectionCount == 1)
    #expect(origin.requests.map(\.indexOnConnection) == Array(0...100))
  }

  @Test func `a connection that is to close takes no more requests`() async throws {
    let (origin, client) = try Carrier.http2.pair()
    origin.fallback(Answer.text("bye").closing())
    #expect(try await client.get("").text == "bye")
    #expect(await origin.waitForOpenConnections(0))
    #expect(try await client.get("").text == "bye")
    #expect(origin.connectionCount == 2)
  }

  @Test func `a client may speak it without TLS`() async throws {
    let (origin, client) = try Carrier.plain.pair { $0.httpVersion = .http2PriorKnowledge }
    origin.fallback { .text("\($0.version.rawValue) \($0.bodyCount)") }
    #expect(try await client.engine.post("", body: .bytes([1, 2, 3])).text == "HTTP/2 3")
  }

  @Test func `a script that stops reading stops the client`() async throws {
    let (origin, client) = try Carrier.http2.pair()
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

  /// One origin for all: no behaviour may harm the origin that shows it. Each is met by a client of its own, which
  /// does not know yet how bad the origin is.
  @Test func `the hostile catalogue harms no origin`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    origin.serveHostile()
    try await atOnce(8) { lane in
      for number in stride(from: lane, to: HostileCatalogue.all.count, by: 8) {
        await meet(HostileCatalogue.all[number], origin)
      }
    }
    #expect(origin.requestCount > HostileCatalogue.all.count / 4)
    #expect(try await Client(origin).get("hostile/ok").text == "ok")
  }

  private func meet(_ behaviour: HostileBehaviour, _ origin: ScriptedOrigin) async {
    let client = try? Client(origin) {
      $0.redirects = .none
      $0.timeouts.total = .seconds(4)  // it is the origin that is looked at
    }
    var request = NetworkRequest(
      path: String(behaviour.path.dropFirst()), method: NetworkRequest.Method(behaviour.method),
      body: behaviour.method == "POST" ? .bytes([1, 2, 3, 4]) : .none)
    for field in behaviour.requestHeaders { request.headers[field.name] = field.value }
    guard let operation = client?.engine.operation(request) else { return }
    async let response = try? client?.engine.response(for: operation)
    if behaviour.isEndless, await origin.waitForHits(behaviour.path, 1, within: .seconds(2)) {
      operation.cancel()
    }
    _ = await response
  }
}
