import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What others may have put into the environment, in a process of its own.
@Suite("The environment")
struct EnvironmentTests {
  @Test func `changes nothing by itself`() async {
    await #expect(processExitsWith: .success) {
      // Given proxies, and a home with a name and a password for every host
      let proxy = try ScriptedOrigin()
      proxy.fallback(.text("by proxy"))
      let home = try TestFolder()
      try home.write(".netrc", Array("default login anna password s3cret\n".utf8))
      try home.write(".curlrc", Array("header = \"X-Injected: yes\"\nproxy = \(proxy.url(""))\n".utf8))
      setVariable("HOME", home.path)
      setVariable("NETRC", home[".netrc"])
      for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "HTTP_PROXY"] {
        setVariable(name, proxy.url(""))
      }
      try await withWire { wire in
        wire.origin.on("/a", .text("directly"))
        #expect(try await wire.answer(wire.operation("/a")).text == "directly" && proxy.connectionCount == 0)
        let request = try #require(wire.origin.requests.last)
        #expect(request.header("Authorization") == nil && request.header("X-Injected") == nil)
      }
    }
  }

  @Test(.needsNginx) func `makes no certificate trusted`() async {
    await #expect(processExitsWith: .success) {
      let server = try NginxServer.shared()
      // OpenSSL's own two variables do: they are the administrator's way to say what the system trusts.
      setVariable("CURL_CA_BUNDLE", server.authority)
      try await withWire { wire in
        let error = try await wire.failure(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(error.code == .tlsRejected && error.reason == "untrusted", "\(error)")
      }
      server.stop()
    }
  }

  @Test func `names the proxy when it is asked`() async {
    await #expect(processExitsWith: .success) {
      let proxy = try ScriptedOrigin()
      proxy.fallback(.text("by proxy"))
      let trap = try ScriptedOrigin()
      // A CGI program gets this one from its client, as the header field Proxy.
      setVariable("HTTP_PROXY", trap.url(""))
      setVariable("http_proxy", proxy.url(""))
      setVariable("no_proxy", "127.0.0.1")
      try await withWire({ $0.proxy = .environment }) { wire in
        wire.origin.on("/a", .text("directly"))
        let except = try await wire.answer(wire.operation("/a"))
        let other = try await wire.answer(wire.engine.operation(url: "http://netspool.invalid/a"))
        #expect(except.text == "directly" && other.text == "by proxy" && trap.connectionCount == 0)
      }
    }
  }
}

private func setVariable(_ name: String, _ value: String) { _ = unsafe setenv(name, value, 1) }
