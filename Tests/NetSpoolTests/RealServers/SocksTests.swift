import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Through a SOCKS proxy", .needsSocksProxy, .ownThreads)
struct SocksTests {
  private static func way(over proxy: SocksProxy, password: String? = nil) -> NetworkEngine.Proxy {
    let way: NetworkEngine.Proxy = "socks5h://127.0.0.1:\(proxy.port)"
    return password.map { way.authenticated(user: "user", password: $0) } ?? way
  }

  @Test func `the engine fetches through it`() async throws {
    let proxy = try SocksProxy(isOpen: true)
    try await withWire({ $0.proxy = Self.way(over: proxy) }) { wire in
      wire.origin.on("/through", .text("hello"))
      let answer = try await wire.answer(wire.operation("/through"))
      #expect(answer.text == "hello")
      #expect(try proxy.connections(to: wire.origin.port, count: 1).count == 1)
    }
  }

  @Test func `signs in with it`() async throws {
    let proxy = try SocksProxy(isOpen: false)
    try await withWire({ $0.proxy = Self.way(over: proxy, password: "secret") }) { wire in
      wire.origin.on("/signed", .text("hello"))
      let answer = try await wire.answer(wire.operation("/signed"))
      #expect(answer.text == "hello" && wire.origin.requests.last?.header("Proxy-Authorization") == nil)
      #expect(try proxy.connections(to: wire.origin.port, count: 1).first?.user == "user")
    }
  }

  @Test(arguments: ["wr0ng", nil])
  func `is turned away with a wrong password, or none`(_ password: String?) async throws {
    let proxy = try SocksProxy(isOpen: false)
    try await withWire({ $0.proxy = Self.way(over: proxy, password: password) }) { wire in
      let error = try await wire.failure(wire.operation("/wrong"))
      #expect(error.code == .proxyFailed && error.isRetrySafe && wire.origin.requestCount == 0, "\(error)")
      #expect(!"\(error)".contains("wr0ng"))
    }
  }

  /// The length of a name is one byte (RFC 1928 section 5): what does not fit must not become another name.
  @Test(arguments: [255, 256, 300, 2_000]) func `a name too long is not shortened`(_ count: Int) async throws
  {
    let proxy = try SocksProxy(isOpen: true)
    try await withWire({ $0.proxy = Self.way(over: proxy) }) { wire in
      let label = String(repeating: "a", count: 49) + "."
      let name = String(String(repeating: label, count: count / 50 + 1).prefix(count - 1)) + "x"
      let error = try await wire.failure(wire.engine.operation(url: "http://\(name):\(wire.origin.port)/"))
      #expect([.proxyFailed, .invalidURL, .resolveFailed].contains(error.code), "\(error.code)")
      #expect(wire.origin.connectionCount == 0)
    }
  }
}
