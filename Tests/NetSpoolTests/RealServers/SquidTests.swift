import NetSpool
import NetSpoolTesting
import Testing

@Suite("Through squid", .needsSquid, .ownThreads)
struct SquidTests {
  // MARK: The part itself

  @Test func asksForCredentials() throws {
    let proxy = try SquidProxy.shared()
    let origin = try ScriptedOrigin()
    origin.fallback(.text("hello"))
    let known = "http://user:secret@127.0.0.1:\(proxy.port)"
    let unknown = "http://user:wrong@127.0.0.1:\(proxy.port)"
    #expect(try Curl.status("-x", known, origin.url("/a")) == "200")
    #expect(try Curl.status("-x", unknown, origin.url("/b")) == "407")
    #expect(try Curl.status("-x", "http://127.0.0.1:\(proxy.port)", origin.url("/c")) == "407")
    #expect(try Curl.run("-p", "-x", known, origin.url("/d")).output == "hello")
    #expect(try Curl.run("-p", "-x", unknown, origin.url("/e")).exit == .status(56))
    #expect(Set(origin.hits.keys) == ["/a", "/d"])
    let logged = try proxy.requests("127.0.0.1:\(origin.port)", count: 5)
    #expect(logged.map(\.status).sorted() == [200, 200, 407, 407, 407])
    #expect(logged.count { $0.method == "CONNECT" && $0.user == "user" } == 2)
  }

  @Test func leadsNowhereElse() throws {
    let proxy = try SquidProxy.shared()
    #expect(try Curl.status("-x", "http://127.0.0.1:\(proxy.openPort)", "http://192.0.2.1/") == "403")
  }

  // MARK: The engine with it

  @Test func fetchesThroughIt() async throws {
    let proxy = try SquidProxy.shared()
    try await withWire {
      $0.proxy = "http://127.0.0.1:\(proxy.openPort)"
    } _: { wire in
      wire.origin.on("/through", .text("hello"))
      #expect(try await wire.answer(wire.operation("/through")).text == "hello")
      #expect(wire.origin.requests.last?.header("Via") != nil)
      let logged = try proxy.requests("127.0.0.1:\(wire.origin.port)/through", count: 1)
      #expect(logged.map(\.status) == [200])
    }
  }

  @Test(.needsNginx) func tunnelsTLSThroughIt() async throws {
    let proxy = try SquidProxy.shared()
    let server = try NginxServer.shared()
    let authority = server.certificates.authority
    try await withWire {
      $0.proxy = "http://127.0.0.1:\(proxy.openPort)"
      $0.tls.caFile = authority
    } _: { wire in
      let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt?squid")))
      #expect(answer.text == "hello\n")
      let logged = try proxy.requests("localhost:\(server.tlsPort)", count: 1)
      #expect(logged.first?.method == "CONNECT")
    }
  }

  @Test(.needsNginx) func isToldThatTheProxyRefusesTheTunnel() async throws {
    let proxy = try SquidProxy.shared()
    let server = try NginxServer.shared()
    try await withWire {
      $0.proxy = "http://127.0.0.1:\(proxy.port)"
    } _: { wire in
      let operation = wire.engine.operation(url: server.tlsURL("/hello.txt?refused"))
      let error = try await wire.failure(operation)
      #expect(error.code == .proxyFailed, "\(error)")
    }
  }
}
