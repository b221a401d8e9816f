import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Through squid", .needsSquid, .ownThreads)
struct SquidTests {
  private let proxy: SquidProxy

  init() throws { proxy = try SquidProxy.shared() }

  @Test func `fetches through it`() async throws {
    try await withWire({ $0.proxy = "http://127.0.0.1:\(proxy.openPort)" }) { wire in
      wire.origin.on("/through", .text("hello"))
      #expect(try await wire.answer(wire.operation("/through")).text == "hello")
      #expect(wire.origin.requests.last?.header("Via") != nil)
      let logged = try proxy.requests("127.0.0.1:\(wire.origin.port)/through", count: 1)
      #expect(logged.map(\.status) == [200])
    }
  }

  /// With nginx behind it, which the engine trusts.
  private func withTunnel(
    _ proxy: NetworkEngine.Proxy, _ body: (Wire, NginxServer) async throws -> Void
  ) async throws {
    let server = try NginxServer.shared()
    try await withWire({ ($0.proxy, $0.tls.caFile) = (proxy, server.authority) }) { wire in
      try await body(wire, server)
    }
  }

  @Test(.needsNginx) func `tunnels TLS through it`() async throws {
    try await withTunnel("http://127.0.0.1:\(proxy.openPort)") { wire, server in
      #expect(await wire.get(server.tlsURL("/hello.txt?squid")).text == "hello\n")
    }
    // A tunnel is in the log when it has ended.
    let logged = try proxy.requests("localhost:\(NginxServer.shared().tlsPort)", count: 1)
    #expect(logged.first?.method == "CONNECT")
  }

  @Test(.needsNginx) func `is told that the proxy refuses the tunnel`() async throws {
    try await withTunnel("http://127.0.0.1:\(proxy.port)") { wire, server in
      let ending = await wire.get(server.tlsURL("/hello.txt?refused"))
      #expect(ending.code == .proxyFailed, "\(ending)")
    }
  }

  @Test(arguments: ["basic", "digest"]) func `signs in with it`(_ scheme: String) async throws {
    try await withWire({ $0.proxy = Self.proxy(proxy, password: "secret", scheme) }) { wire in
      wire.origin.on("/signed", .text("hello"))
      for _ in 0..<2 {
        #expect(try await wire.answer(wire.operation("/signed")).text == "hello")
      }
      #expect(wire.origin.requests.allSatisfy { $0.header("Proxy-Authorization") == nil })
      let logged = try proxy.requests("127.0.0.1:\(wire.origin.port)/signed", count: 2, status: 200)
      // Of two answers on one connection, squid may log the second first.
      #expect(logged.filter { $0.status == 200 }.allSatisfy { $0.user == "user" })
      if scheme == "basic" { #expect(logged.map(\.status) == [200, 200]) }
    }
  }

  @Test(.needsNginx, arguments: ["basic", "digest"])
  func `signs in for a tunnel`(_ scheme: String) async throws {
    try await withTunnel(Self.proxy(proxy, password: "secret", scheme)) { wire, server in
      for _ in 0..<2 {
        let ending = await wire.get(server.tlsURL("/seen"))
        #expect(ending.response?.status == 200, "\(ending)")
      }
    }
  }

  @Test(arguments: ["basic", "digest"])
  func `is turned away with a wrong password`(_ scheme: String) async throws {
    try await withWire({ $0.proxy = Self.proxy(proxy, user: "another", password: "wr0ng", scheme) }) { wire in
      let error = try await wire.failure(wire.operation("/wrong"))
      #expect(error.code == .proxyFailed && error.reason == "authentication", "\(error)")
      #expect(error.response?.status == 407 && wire.origin.requestCount == 0 && !"\(error)".contains("wr0ng"))
    }
  }

  @Test(.needsNginx, arguments: ["basic", "digest"])
  func `is turned away from a tunnel with a wrong password`(_ scheme: String) async throws {
    try await withTunnel(Self.proxy(proxy, user: "another", password: "wr0ng", scheme)) { wire, server in
      let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt?tunnel")))
      #expect(error.code == .proxyFailed && error.reason == "authentication", "\(error)")
      #expect(!"\(error)".contains("wr0ng"))
      #expect(try !server.requests().contains { $0.target.hasSuffix("?tunnel") })
    }
  }

  /// What the origin asks for and what the proxy asks for are two things.
  @Test(.needsNginx) func `signs in with the origin through a tunnel`() async throws {
    try await withTunnel(Self.proxy(proxy, password: "secret", "basic")) { wire, server in
      let operation = wire.engine.operation(url: server.tlsURL("/basic/hello.txt?through"))
        .setCredentials(user: "user", password: "secret")
      #expect(await wire.result(of: operation).text == "hello\n")
    }
  }

  private static func proxy(
    _ proxy: SquidProxy, user: String = "user", password: String, _ scheme: String
  ) -> NetworkEngine.Proxy {
    NetworkEngine.Proxy("http://127.0.0.1:\(proxy.port)")
      .authenticated(user: user, password: password, by: scheme == "basic" ? .basic : .digest)
  }
}
