import NetSpoolTesting
import Testing

@testable import NetSpool

/// The messages of NTLM are libcurl's; here an origin deals them out as a script says.
@Suite(
  "NTLM, leg by leg", .enabled(if: LoadedCurl.hasNTLM, "libcurl is built without NTLM"))
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

  static func script(_ origin: ScriptedOrigin, accepts: Bool = true, challenge: String = Self.challenge) {
    origin.fallback { request in
      switch step(request) {
      case 1: .text("who?", status: 401).header("WWW-Authenticate", "NTLM \(challenge)")
      case 3 where accepts: .text("in")
      default: .text("out", status: 401).header("WWW-Authenticate", "NTLM")
      }
    }
  }

  @Test func `each request has a connection of its own`() async throws {
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "secret")
    } _: { engine, origin in
      Self.script(origin)
      for _ in 0..<2 {
        let ending = await engine.get("/a").end()
        #expect(ending.text == "in", "\(ending)")
      }
      #expect(origin.requests.map(Self.step) == [1, 3, 1, 3])
      #expect(origin.requests.map(\.connection) == [0, 0, 1, 1])
    }
  }

  @Test func `a wrong password is the end after one handshake`() async throws {
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "wrong")
    } _: { engine, origin in
      Self.script(origin, accepts: false)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && ending.error?.response?.text == "out", "\(ending)")
      #expect(origin.requestCount == 2)
    }
  }

  @Test(arguments: ["AAAA", "TlRMTVNTUAAC", "!!!"]) func `a broken challenge is the end`(_ challenge: String)
    async throws
  {
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "secret")
    } _: { engine, origin in
      Self.script(origin, challenge: challenge)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && ending.error?.response?.status == 401, "\(ending)")
    }
  }

  @Test(arguments: [NetworkRequest.Method.get, .put])
  func `an origin that never challenges is not asked for ever`(
    _ method: NetworkRequest.Method
  )
    async throws
  {
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "secret")
    } _: { engine, origin in
      origin.fallback(Answer.text("out", status: 401).header("WWW-Authenticate", "NTLM"))
      let operation = engine.operation(path: "/a", method: method)
      if method == .put { operation.setBody(.bytes(Array("body".utf8))) }
      let ending = await engine.end(of: operation)
      #expect(ending.code == .authenticationFailed && ending.error?.response?.status == 401, "\(ending)")
      #expect(origin.requestCount == 2)
    }
  }

  @Test func `the body waits for the last leg`() async throws {
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "secret")
    } _: { engine, origin in
      Self.script(origin)
      let body = String(repeating: "body", count: 5_000)
      for method in [NetworkRequest.Method.post, .put] {
        let operation = engine.operation(path: "/a", method: method).setBody(.bytes(Array(body.utf8)))
        let ending = await engine.end(of: operation)
        #expect(ending.text == "in", "\(ending)")
      }
      #expect(origin.requests.filter { Self.step($0) == 3 }.map(\.text) == [body, body])
    }
  }

  @Test func `no token goes to another origin`() async throws {
    let other = try ScriptedOrigin()
    other.fallback(.text("there"))
    try await withEngine {
      $0.credentials = .ntlm(user: "DOMAIN\\anna", password: "secret")
    } _: { engine, origin in
      let target = other.url("/b")
      origin.fallback { request in
        Self.step(request) == 3
          ? .redirect(to: target)
          : .text("who?", status: 401).header("WWW-Authenticate", "NTLM \(Self.challenge)")
      }
      let ending = await engine.get("/a").end()
      #expect(ending.text == "there")
    }
    #expect(other.requests.map { $0.header("Authorization") } == [nil])
  }

  @Test func `two users share nothing`() async throws {
    try await withEngine { engine, origin in
      Self.script(origin)
      let operations = (0..<8).map { number in
        engine.operation(path: "/a").setCredentials(.ntlm(user: "D\\u\(number % 2)", password: "p"))
      }
      engine.enqueue(operations)
      for operation in operations {
        let ending = await operation.end()
        #expect(ending.text == "in", "\(ending)")
      }
      for requests in Dictionary(grouping: origin.requests, by: \.connection).values {
        #expect(requests.map(Self.step) == [1, 3])
      }
    }
  }
}
