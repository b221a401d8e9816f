import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Egress: where connections may lead")
struct EgressTests {
  /// Spellings of this machine.
  @Test(arguments: [
    "127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "127.1", "017700000001", "localhost", "[::1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]",
  ]) func `public only is not this machine`(_ host: String) async throws {
    try await withEngine({ $0.egress = .publicOnly }) { engine, origin in
      origin.fallback(.text("in"))
      let ending = await engine.end(of: engine.operation(url: origin.url("/a", host: host)))
      #expect(ending.code == .egressDenied, "\(ending)")
      #expect(ending.error?.isRetrySafe == true && origin.connectionCount == 0)
    }
  }

  @Test func `a rule sees the resolved address`() async throws {
    let seen = Journal<NetworkEngine.Egress.Address>()
    try await withEngine {
      $0.egress = .rule { address in
        seen.add(address)
        return address.bytes == [127, 0, 0, 1]
      }
    } _: { engine, origin in
      origin.fallback(.text("in"))
      #expect(await engine.end(of: engine.operation(url: origin.url("/a", host: "0x7f.1"))).text == "in")
      let first = try #require(seen.entries.first)
      #expect(first.description == "127.0.0.1" && first.port == origin.port && !first.isPublic)
    }
  }

  @Test(arguments: ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"])
  func `a rule sees the address that is connected to`(_ host: String) async throws {
    try await withEngine({ $0.egress = .rule { $0.bytes != [127, 0, 0, 1] } }) { engine, origin in
      let ending = await engine.end(of: engine.operation(url: origin.url("/a", host: host)))
      #expect(ending.code == .egressDenied && origin.connectionCount == 0, "\(ending)")
    }
  }

  @Test func `a redirect is judged anew`() async throws {
    let other = try ScriptedOrigin()
    let forbidden = other.port
    try await withEngine({ $0.egress = .rule { $0.port != forbidden } }) { engine, origin in
      origin.on("/a", .redirect(to: other.url("/b")))
      #expect(await engine.get("/a").end().code == .egressDenied && origin.requestCount == 1)
    }
    #expect(other.connectionCount == 0)
  }

  @Test func `an old connection is judged anew`() async throws {
    let isOpen = Variable(true)
    try await withEngine({ $0.egress = .rule { _ in isOpen.value } }) { engine, origin in
      origin.fallback(.text("in"))
      #expect(await engine.get("/a").end().text == "in")
      isOpen.value = false
      #expect(await engine.get("/a").end().code == .egressDenied && origin.requestCount == 1)
      isOpen.value = true
      #expect(await engine.get("/a").end().text == "in")
    }
  }

  @Test func `another engine's connection is not used`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("in"))
      _ = await engine.get("/a").end()
      let strict = try NetworkEngine(to: origin, on: engine.configuration.queue) { $0.egress = .publicOnly }
      #expect(await strict.get("/b").end().code == .egressDenied && origin.requestCount == 1)
      #expect(await engine.get("/c").end().text == "in" && origin.connectionCount == 1)
    }
  }

  @Test func `no rule holds behind a proxy`() {
    let error = NetworkEngine.refusal { ($0.egress, $0.proxy) = (.publicOnly, "http://127.0.0.1:3128") }
    #expect(error?.code == .invalidConfiguration && error?.reason == "egress behind a proxy")
  }
}
