import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Bodies of answers that have decided with their heads what follows: they may be long, or never end.
struct LeftBodyTests {
  /// How a body begins that the origin never ends.
  enum Body: CaseIterable, Sendable {
    case untilClose, announced, chunked, endless

    var parts: [WirePart] {
      switch self {
      case .untilClose: [.text("\r\nmoved"), .stall]
      case .announced: [.text("Content-Length: 100000\r\n\r\nmoved"), .stall]
      case .chunked: [.text("Transfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n"), .stall]
      case .endless: [.text("\r\n"), .repeating([UInt8](repeating: 0x61, count: 1_000), times: nil)]
      }
    }
  }

  private static func answer(_ head: String, _ body: Body) -> Answer { .raw([.text(head)] + body.parts) }

  @Test(arguments: Body.allCases, [301, 303, 308])
  func `a redirect is followed although its body does not end`(_ body: Body, status: Int) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Self.answer("HTTP/1.1 \(status) Moved\r\nLocation: /b\r\n", body))
      origin.on("/b", .text("here"))
      #expect(await engine.end(of: engine.operation(path: "/a")).text == "here")
    }
  }

  @Test(arguments: Body.allCases)
  func `a redirect that is refused ends without its body`(_ body: Body) async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Self.answer("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n", body))
      #expect(await engine.end(of: engine.operation(path: "/a")).code == .redirectRefused)
    }
  }

  @Test(arguments: Body.allCases)
  func `a challenge is answered although its body does not end`(_ body: Body) async throws {
    try await withEngine { engine, origin in
      origin.on("/a") { request in
        request.header("Authorization") == nil
          ? Self.answer("HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=r\r\n", body) : .text("welcome")
      }
      let operation = engine.operation(path: "/a").setCredentials(
        user: "anna", password: "pass", preemptive: false)
      #expect(await engine.end(of: operation).text == "welcome")
    }
  }

  @Test(arguments: Body.allCases)
  func `another attempt begins although the body of the first does not end`(_ body: Body) async throws {
    try await withEngine({ $0.retry = .attempts(2) }) { engine, origin in
      origin.enqueue(Self.answer("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\n", body), .text("later"), for: "/a")
      #expect(await engine.end(of: engine.operation(path: "/a")).text == "later")
    }
  }

  @Test(arguments: [Body.untilClose, .endless])
  func `a proxy's challenge is answered although its body does not end`(_ body: Body) async throws {
    let proxy = try ScriptedOrigin()
    proxy.fallback { request in
      request.header("Proxy-Authorization") == nil
        ? Self.answer(
          "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n", body)
        : .text("by proxy")
    }
    try await withQueue { queue in
      let engine = try NetworkEngine(to: proxy, on: queue) {
        $0.proxy = NetworkEngine.Proxy(proxy.url("")).authenticated(
          user: "anna", password: "pass", by: .digest)
      }
      let ending = await engine.end(of: engine.operation(url: "http://netspool.invalid/"))
      #expect(ending.text == "by proxy", "\(ending)")
    }
  }

  @Test func `a short body that comes at once leaves its connection for the next request`() async throws {
    try await withEngine { engine, origin in
      // In one piece with its head
      origin.on("/a", Answer(status: 302, headers: ["Location": "/b"], body: .pattern(count: 15_000)))
      origin.on("/b", .text("here"))
      #expect(await engine.end(of: engine.operation(path: "/a")).text == "here")
      #expect(origin.connectionCount == 1)
    }
  }
}
