import NetSpool
import NetSpoolTesting
import Testing

@Suite("Proxies")
struct ProxyTests {
  /// An engine on one loop that goes everywhere by this proxy.
  private func withProxy(
    _ answer: Answer = .text("by proxy"), _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    let proxy = try ScriptedOrigin()
    proxy.fallback(answer)
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let engine = try NetworkEngine(on: queue) {
        $0.proxy = NetworkEngine.Proxy(proxy.url(""))
        configure(&$0)
      }
      try await body(engine, proxy)
    }
  }

  @Test func `gets the whole URL and nothing else does`() async throws {
    try await withProxy {
      $0.proxy = $0.proxy?.authenticated(user: "anna", password: "pass")
    } _: { engine, proxy in
      let operation = engine.operation(url: "http://netspool.invalid/a?b=c").setHeader("X-Own", "o")
      let ending = await engine.end(of: operation)
      #expect(ending.text == "by proxy", "\(ending) \(proxy.rejectedRequests)")
      let request = try #require(proxy.requests.first)
      #expect(
        request.target == "http://netspool.invalid/a?b=c" && request.header("Host") == "netspool.invalid")
      #expect(request.header("Proxy-Authorization") == "Basic YW5uYTpwYXNz")
      #expect(!"\(operation) \(engine.configuration)".contains("pass"))
    }
  }

  @Test func `a refusal is the proxy's`() async throws {
    let refusal = Answer.text("who?", status: 407).header("Proxy-Authenticate", "Basic realm=p")
    try await withProxy(refusal) { engine, _ in
      let ending = await engine.end(of: engine.operation(url: "http://netspool.invalid/"))
      #expect(ending.code == .proxyFailed && ending.reason == "authentication")
      #expect(ending.error?.response?.text == "who?")
    }
  }

  @Test func `a proxy that is not there is a proxy failure`() async throws {
    try await withProxy { engine, proxy in
      proxy.stop()
      let ending = await engine.end(of: engine.operation(url: "http://netspool.invalid/"))
      #expect(ending.code == .proxyFailed && ending.reason == "connect" && ending.error?.isRetrySafe == true)
    }
  }

  @Test func `credentials of the proxy stay with it`() async throws {
    try await withEngine {
      $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:1").authenticated(user: "anna", password: "S3CR3T")
        .except("127.0.0.1")
    } _: { engine, origin in
      origin.fallback(.text("directly"))
      #expect(await engine.get("/a").end().text == "directly")
      #expect(origin.requests.first?.header("Proxy-Authorization") == nil)
    }
  }

  @Test func `a host that is excepted is as near as without a proxy`() async throws {
    try await withEngine {
      $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:1").except("127.0.0.0/8")
    } _: { engine, origin in
      origin.fallback(.text("directly"))
      let operation = engine.operation(path: "/a").configure {
        $0.credentials = .basic(user: "anna", password: "pass")
      }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "directly", "\(ending)")
      #expect(origin.requests.first?.header("Host") == "127.0.0.1:\(origin.port)")
    }
  }

  @Test func `an excepted host that is not there is no failure of the proxy`() async throws {
    try await withEngine {
      $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:1").except("127.0.0.1")
    } _: { engine, origin in
      origin.stop()
      let ending = await engine.end(of: engine.operation(path: "/a"))
      #expect(ending.code == .connectFailed && ending.reason == "refused", "\(ending)")
    }
  }

  @Test(arguments: [
    "", "socks4://p", "socks5://p", "ftp://p", "http://", "http://p/path", "http://p?q", "http://a b",
    "file:///p",
  ])
  func `another kind is refused`(_ url: String) {
    #expect(NetworkEngine.refusal { $0.proxy = NetworkEngine.Proxy(url) }?.code == .invalidConfiguration)
  }

  // MARK: The field Host of requests that a proxy passes on

  @Test
  func `each host is named on the connection that all share, an IPv6 address before a name`() async throws {
    try await withProxy { engine, proxy in
      let hosts = [
        "[2001:db8::1]:8080", "netspool.invalid", "[2001:db8::2]", "10.0.0.1:81", "other.invalid:8080",
      ]
      for host in hosts {
        let ending = await engine.end(of: engine.operation(url: "http://\(host)/a"))
        #expect(ending.text == "by proxy", "\(host): \(ending)")
      }
      let own = engine.operation(url: "http://netspool.invalid/a").setHeader("Host", "own.invalid")
      #expect(await engine.end(of: own).text == "by proxy")
      #expect(proxy.requests.map { $0.headers.all("Host") } == hosts.map { [$0] } + [["own.invalid"]])
      #expect(proxy.connectionCount == 1)
    }
  }

  @Test func `a zone leads the connection and is not told`() async throws {
    try await withProxy { engine, proxy in
      let ending = await engine.end(of: engine.operation(url: "http://[fe80::1%25eth0]:81/a"))
      #expect(ending.text == "by proxy", "\(ending)")
      #expect(proxy.requests.first?.headers.all("Host") == ["[fe80::1]:81"])
    }
  }
}
