import NetSpool
import NetSpoolTesting
import Testing

@Suite("Through dante", .needsDante, .ownThreads)
struct DanteTests {
  @Test func asksForCredentials() throws {
    let proxy = try DanteProxy(isOpen: false)
    let origin = try ScriptedOrigin()
    origin.fallback(.text("hello"))
    let place = "127.0.0.1:\(proxy.port)"
    #expect(try Curl.run("-x", "socks5h://user:secret@\(place)", origin.url("/a")).output == "hello")
    #expect(try Curl.run("-x", "socks5h://user:wrong@\(place)", origin.url("/b")).exit == .status(97))
    #expect(try Curl.run("-x", "socks5h://\(place)", origin.url("/c")).exit == .status(97))
    #expect(origin.hits == ["/a": 1])
    #expect(try proxy.connections(to: origin.port, count: 1).first?.contains("username%user@") == true)
  }

  @Test func theEngineFetchesThroughIt() async throws {
    let proxy = try DanteProxy(isOpen: true)
    try await withWire {
      $0.proxy = "socks5h://127.0.0.1:\(proxy.port)"
    } _: { wire in
      wire.origin.on("/through", .text("hello"))
      let answer = try await wire.answer(wire.operation("/through"))
      #expect(answer.text == "hello")
      #expect(try proxy.connections(to: wire.origin.port, count: 1).count == 1)
    }
  }

  @Test func theEngineIsToldWhenItIsTurnedAway() async throws {
    let proxy = try DanteProxy(isOpen: false)
    try await withWire {
      $0.proxy = "socks5h://127.0.0.1:\(proxy.port)"
    } _: { wire in
      let error = try await wire.failure(wire.operation("/through"))
      #expect(error.code == .proxyFailed && wire.origin.requestCount == 0, "\(error)")
    }
  }
}
