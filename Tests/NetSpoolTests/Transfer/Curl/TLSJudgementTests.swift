import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("The judgement of TLS", .needsPython, .needsNginx, .ownThreads)
struct TLSJudgementTests {
  @Test(arguments: TLSVariant.all)
  func `accepts what is right and sends nothing to what is wrong`(_ variant: TLSVariant) async throws {
    // On another thread: the first one makes the certificates.
    let server = try await blocking { try TLSServer(variant.certificate, variant.arguments) }
    try await withWire({ ($0.tls.caFile, $0.retry) = (server.authority, .none) }) { wire in
      let operation = wire.engine.operation(url: "https://\(variant.host):\(server.port)/secret")
        .setAuthorization("S3CR3T")
      switch variant.verdict {
      case .accepts: try await Self.accepts(operation, wire, server)
      case .rejects(let reason): try await Self.rejects(operation, reason, wire, server)
      }
    }
  }

  private static func accepts(_ operation: NetworkOperation, _ wire: Wire, _ server: TLSServer) async throws {
    async let answer = wire.answer(operation)
    #expect(try await blocking { try server.output(until: "\r\n\r\n") }.contains("GET /secret HTTP/1.1\r\n"))
    try server.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    #expect(try await answer.text == "hello")
  }

  private static func rejects(
    _ operation: NetworkOperation, _ reason: String, _ wire: Wire, _ server: TLSServer
  ) async throws {
    let error = try await wire.failure(operation)
    #expect(error.code == .tlsRejected && error.reason == reason, "\(error)")
    #expect(error.isRetrySafe)
    let printed = try server.stop()
    #expect(!printed.contains("GET /") && !printed.contains("S3CR3T"), "\(printed)")
  }

  /// Names belong into a subject alternative name (RFC 9110 section 4.3.4), if one insists.
  @Test(arguments: [("common-name-only", false), ("good", true)])
  func `may insist on proper names`(_ certificate: String, _ isAccepted: Bool) async throws {
    let server = try await blocking { try TLSServer(certificate) }
    try await withWire {
      $0.tls.caFile = server.authority
      $0.tls.requiresSubjectAlternativeName = true
    } _: { wire in
      let operation = wire.engine.operation(url: "https://localhost:\(server.port)/secret")
        .setAuthorization("S3CR3T")
      if isAccepted { return try await Self.accepts(operation, wire, server) }
      try await Self.rejects(operation, "hostMismatch", wire, server)
    }
  }

  /// A pin holds beside the chain, and instead of nothing.
  @Test(arguments: [
    ("good", "good", true), ("good", "good-rsa", false), ("self-signed", "self-signed", false),
  ])
  func `may insist on a key`(_ certificate: String, _ pinned: String, _ isAccepted: Bool) async throws {
    let pin = try await blocking { try Self.pin(of: pinned) }
    let server = try await blocking { try TLSServer(certificate) }
    try await withWire({ ($0.tls.caFile, $0.tls.pinnedPublicKey) = (server.authority, pin) }) { wire in
      let operation = wire.engine.operation(url: "https://localhost:\(server.port)/secret")
        .setAuthorization("S3CR3T")
      if isAccepted { return try await Self.accepts(operation, wire, server) }
      let reason = certificate == "good" ? "pinMismatch" : "untrusted"
      try await Self.rejects(operation, reason, wire, server)
    }
  }

  /// As CURLOPT_PINNEDPUBLICKEY(3) says how.
  private static func pin(of certificate: String) throws -> String {
    let directory = try TLSCertificates.shared().directory
    let script = """
      openssl x509 -in "$0" -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary \
        | openssl base64
      """
    let result = try ChildProcess.run(["sh", "-c", script, "\(directory)/\(certificate).pem"])
    return "sha256//" + String(decoding: result.output, as: UTF8.self).filter { $0 != "\n" }
  }

  /// RC4 and 3DES: no server on this machine speaks them any more, so one is played.
  @Test(arguments: [0x0004, 0x0005, 0x000A, 0x0016, 0xC008, 0xC012] as [UInt16])
  func `neither offers nor takes a cipher of old`(_ cipher: UInt16) async throws {
    // In a slot before the server begins to wait.
    try await TestSlots.run {
      let listening = try LocalSocket.listening()
      let played = Task { try await blocking { try OldCipherServer.serveOne(listening, cipher) } }
      try await withWire({ $0.retry = .none }) { wire in
        let error = try await wire.failure(wire.engine.operation(url: "https://localhost:\(listening.port)/"))
        #expect(error.code == .tlsRejected && error.reason == "protocol", "\(error)")
      }
      let offered = try await played.value
      #expect(!offered.isEmpty && !offered.contains(cipher))
    }
  }

  @Test func `does not keep a body that ended without a word of TLS`() async throws {
    let server = try await blocking { try TLSServer("good") }
    try await withCache(engine: { $0.tls.caFile = server.authority }) { engine, _, _ in
      // Given an answer that only the end of the connection ends, and a server that dies
      let url = "https://localhost:\(server.port)/"
      let hasArrived = Latch()
      let operation = engine.operation(url: url).onDownloadProgress { _ in hasArrived.open() }
      async let ending = engine.end(of: operation)
      _ = try await blocking { try server.output(until: "\r\n\r\n") }
      try server.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nhalf of")
      await hasArrived.opened()
      server.kill()
      // Then its body is an error, or with libcurl 7.88 passes, but not for the whole: it is not kept
      let got = await ending
      if LoadedCurl.tellsOfCutOffs {
        #expect(got.code == .bodyTruncated, "\(got)")
      } else {
        #expect(got.text == "half of")
      }
      #expect(await engine.end(of: engine.operation(url: url)).code == .connectFailed)
    }
  }
}
