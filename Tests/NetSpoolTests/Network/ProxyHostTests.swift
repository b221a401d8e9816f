import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// The `Host` field of requests that a proxy passes on.
struct ProxyHostTests {
  @Test
  func `each host is named on the connection that all share, an IPv6 address before a name`() async throws {
    let proxy = try ScriptedOrigin()
    proxy.fallback(.text("by proxy"))
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let engine = try NetworkEngine(to: proxy, on: queue) { $0.proxy = NetworkEngine.Proxy(proxy.url("")) }
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
    let proxy = try ScriptedOrigin()
    proxy.fallback(.text("by proxy"))
    try await withQueue { queue in
      let engine = try NetworkEngine(to: proxy, on: queue) { $0.proxy = NetworkEngine.Proxy(proxy.url("")) }
      let ending = await engine.end(of: engine.operation(url: "http://[fe80::1%25eth0]:81/a"))
      #expect(ending.text == "by proxy", "\(ending)")
      #expect(proxy.requests.first?.headers.all("Host") == ["[fe80::1]:81"])
    }
  }
}
