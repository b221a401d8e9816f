import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Who trusts a ``ScriptedOrigin`` with TLS, and what it speaks.
@Suite struct TLSTests {
  @Test func `no client trusts it that was not given its authority`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let other = try ScriptedOrigin(tls: .selfSigned)
    let client = try Client(other) { $0.port = origin.port }
    #expect(origin.certificateAuthority != other.certificateAuthority)
    #expect(await client.failure("") == .tlsRejected)
    #expect(origin.requestCount == 0)
    #expect(await origin.waitForOpenConnections(0))
    #expect(origin.rejectedRequests.first?.contains("unknown ca") == true, "\(origin.rejectedRequests)")
  }

  @Test(arguments: [
    OriginTLS.selfSigned(isExpired: true), .selfSigned(names: ["another.example"]),
    .selfSigned(names: ["10.0.0.1"]),
  ])
  func `a wrong certificate is refused`(_ tls: OriginTLS) async throws {
    let origin = try ScriptedOrigin(tls: tls)
    let client = try Client(origin)
    #expect(await client.failure("") == .tlsRejected)
    #expect(origin.requestCount == 0)
  }

  @Test func `the names are those that were given`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned(names: ["shop.example.org"]))
    let client = try Client(origin) { $0.resolve = ["shop.example.org": ["127.0.0.1"]] }
    origin.fallback { .text($0.header("Host") ?? "") }
    let response = try await client.engine.response(
      for: NetworkRequest(url: origin.url("/", host: "shop.example.org")))
    #expect(response.text == "shop.example.org:\(origin.port)")
  }

  @Test func `URLs say https and no other origin has its authority`() throws {
    let origin = try ScriptedOrigin(tls: .selfSigned, starts: false)
    #expect(origin.url("/a") == "https://127.0.0.1:\(origin.port)/a")
    #expect(origin.certificateAuthority?.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true)
    #expect(try ScriptedOrigin(starts: false).certificateAuthority == nil)
  }

  @Test func `a client that speaks no TLS is rejected and harms no other`() async throws {
    let origin = try ScriptedOrigin(tls: .selfSigned)
    let raw = try #require(RawClient(port: origin.port))
    raw.ask("/")
    _ = raw.readToEnd()
    #expect(origin.rejectedCount == 1 && origin.requestCount == 0)
    origin.fallback(.text("here"))
    #expect(try await Client(origin).get("").text == "here")
  }

  @Test(arguments: [FaultAction.reset, .close])
  func `a fault at the door comes before the handshake`(_ fault: FaultAction) async throws {
    let (origin, client) = try Carrier.http2.pair()
    origin.enqueue(Answer.text("").fault(fault, at: .accept), .text("in"))
    #expect(await client.failure("") != nil)
    #expect(try await client.get("").text == "in")
  }

  @Test func `a connection that is kept at the door goes on later`() async throws {
    let (origin, client) = try Carrier.http2.pair()
    origin.enqueue(Answer.text("").fault(.gate("door"), at: .accept), .text("in"))
    async let response = client.get("")
    #expect(await origin.waitForWaiting("door", 1))
    #expect(origin.requestCount == 0)
    origin.release("door")
    #expect(try await response.text == "in")
  }
}
