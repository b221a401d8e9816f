import NetSpool
import NetSpoolTesting
import Testing

@Suite("Proxies")
struct ProxyTests {
  @Test func `gets the whole URL and nothing else does`() async throws {
    let proxy = try ScriptedOrigin()
    proxy.fallback(.text("by proxy"))
    try await withQueue { queue in
      let engine = try NetworkEngine(on: queue) {
        $0.proxy = NetworkEngine.Proxy(proxy.url("")).authenticated(user: "anna", password: "pass")
      }
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
    let proxy = try ScriptedOrigin()
    proxy.fallback(Answer.text("who?", status: 407).header("Proxy-Authenticate", "Basic realm=p"))
    try await withQueue { queue in
      let engine = try NetworkEngine(on: queue) { $0.proxy = NetworkEngine.Proxy(proxy.url("")) }
      let ending = await engine.end(of: engine.operation(url: "http://netspool.invalid/"))
      #expect(ending.code == .proxyFailed && ending.reason == "authentication")
      #expect(ending.error?.response?.text == "who?")
    }
  }

  @Test func `a proxy that is not there is a proxy failure`() async throws {
    let proxy = try ScriptedOrigin(starts: false)
    try await withQueue { queue in
      let engine = try NetworkEngine(on: queue) { $0.proxy = NetworkEngine.Proxy(proxy.url("")) }
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

  @Test(arguments: ["socks4://p", "ftp://p", "http://p/path", "http://"])
  func `another kind is refused`(_ url: String) {
    #expect(NetworkEngine.refusal { $0.proxy = NetworkEngine.Proxy(url) } != nil)
  }
}
