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

  @Test(.needsNginx) func `tunnels TLS through it`() async throws {
    let server = try NginxServer.shared()
    try await withWire {
      $0.proxy = "http://127.0.0.1:\(proxy.openPort)"
      $0.tls.caFile = server.authority
    } _: { wire in
      let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt?squid")))
      #expect(answer.text == "hello\n")
    }
    // A tunnel is in the log when it has ended.
    let logged = try proxy.requests("localhost:\(server.tlsPort)", count: 1)
    #expect(logged.first?.method == "CONNECT")
  }

  @Test(.needsNginx) func `is told that the proxy refuses the tunnel`() async throws {
    let server = try NginxServer.shared()
    try await withWire({ $0.proxy = "http://127.0.0.1:\(proxy.port)" }) { wire in
      let operation = wire.engine.operation(url: server.tlsURL("/hello.txt?refused"))
      let error = try await wire.failure(operation)
      #expect(error.code == .proxyFailed, "\(error)")
    }
  }

  @Test(arguments: ["basic", "digest"]) func `signs in with it`(_ scheme: String) async throws {
    try await withWire({ $0.proxy = Self.proxy(proxy, password: "secret", scheme) }) { wire in
      wire.origin.on("/signed", .text("hello"))
      for _ in 0..<2 {
        let answer = try await wire.answer(wire.operation("/signed"))
        #expect(answer.text == "hello")
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
    let server = try NginxServer.shared()
    try await withWire {
      $0.proxy = Self.proxy(proxy, password: "secret", scheme)
      $0.tls.caFile = server.authority
    } _: { wire in
      for _ in 0..<2 {
        let operation = wire.engine.operation(url: server.tlsURL("/seen"))
        let answer = try await wire.answer(operation)
        #expect(answer.status == 200)
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
    let server = try NginxServer.shared()
    try await withWire({ $0.proxy = Self.proxy(proxy, user: "another", password: "wr0ng", scheme) }) { wire in
      let operation = wire.engine.operation(url: server.tlsURL("/hello.txt?tunnel"))
      let error = try await wire.failure(operation)
      #expect(error.code == .proxyFailed && error.reason == "authentication", "\(error)")
      #expect(!"\(error)".contains("wr0ng"))
    }
    #expect(try !server.requests().contains { $0.target.hasSuffix("?tunnel") })
  }

  /// What the origin asks for and what the proxy asks for are two things.
  @Test(.needsNginx) func `signs in with the origin through a tunnel`() async throws {
    let server = try NginxServer.shared()
    try await withWire {
      $0.proxy = Self.proxy(proxy, password: "secret", "basic")
      $0.tls.caFile = server.authority
    } _: { wire in
      let operation = wire.engine.operation(url: server.tlsURL("/basic/hello.txt?through"))
        .setCredentials(user: "user", password: "secret")
      let answer = try await wire.answer(operation)
      #expect(answer.text == "hello\n")
    }
  }

  private static func proxy(
    _ proxy: SquidProxy, user: String = "user", password: String, _ scheme: String
  ) -> NetworkEngine.Proxy {
    NetworkEngine.Proxy("http://127.0.0.1:\(proxy.port)")
      .authenticated(user: user, password: password, by: scheme == "basic" ? .basic : .digest)
  }
}
