import NetSpoolTesting
import Testing

@testable import NetSpool

/// The messages of NTLM are libcurl's; here an origin deals them out as a script says.
@Suite("NTLM, leg by leg", .enabled(if: LoadedCurl.hasNTLM, "libcurl is built without NTLM"))
struct NTLMTests {
  /// A challenge: signature, type 2, no target name, flags (OEM, NTLM, always sign), nonce, context.
  static let challenge: String = {
    var bytes = Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
    bytes += [0x02, 0x82, 0, 0] + Array("12345678".utf8) + [UInt8](repeating: 0, count: 8)
    return Base64.encode(bytes)
  }()

  /// What of the handshake this request is: 1 or 3; 0: nothing.
  static func step(_ request: RecordedRequest) -> Int {
    let value = request.header("Authorization") ?? ""
    // "NTLMSSP\0" and the type's first byte.
    if value.hasPrefix("NTLM TlRMTVNTUAAB") { return 1 }
    return value.hasPrefix("NTLM TlRMTVNTUAAD") ? 3 : 0
  }

  private static let anna = NetworkCredentials.ntlm(user: "DOMAIN\\anna", password: "secret")

  static func script(
    _ origin: ScriptedOrigin, challenge: String = Self.challenge, welcome: Answer = .text("in")
  ) {
    origin.fallback { request in
      switch step(request) {
      case 1: .text("who?", status: 401).header("WWW-Authenticate", "NTLM \(challenge)")
      case 3: welcome
      default: .text("out", status: 401).header("WWW-Authenticate", "NTLM")
      }
    }
  }

  @Test(arguments: ["AAAA", "TlRMTVNTUAAC", "!!!"])
  func `a broken challenge is the end`(_ challenge: String) async throws {
    try await withEngine({ $0.credentials = Self.anna }) { engine, origin in
      Self.script(origin, challenge: challenge)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && ending.error?.response?.status == 401, "\(ending)")
    }
  }

  @Test(arguments: [NetworkRequest.Method.get, .put])
  func `an origin that never challenges is not asked for ever`(_ method: NetworkRequest.Method) async throws {
    try await withEngine({ $0.credentials = Self.anna }) { engine, origin in
      origin.fallback(Answer.text("out", status: 401).header("WWW-Authenticate", "NTLM"))
      let operation = engine.operation(path: "/a", method: method)
      if method == .put { operation.setBody(.bytes(Array("body".utf8))) }
      let ending = await engine.end(of: operation)
      #expect(ending.code == .authenticationFailed && ending.error?.response?.status == 401, "\(ending)")
      #expect(origin.requestCount == 2)
    }
  }

  @Test func `no token goes to another origin`() async throws {
    let other = try ScriptedOrigin(answering: .text("there"))
    try await withEngine({ $0.credentials = Self.anna }) { engine, origin in
      Self.script(origin, welcome: .redirect(to: other.url("/b")))
      #expect(await engine.get("/a").end().text == "there")
    }
    #expect(other.requests.map { $0.header("Authorization") } == [nil])
  }
}
