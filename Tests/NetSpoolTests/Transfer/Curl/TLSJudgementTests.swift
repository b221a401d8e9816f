import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("The judgement of TLS", .needsPython, .needsNginx, .ownThreads)
struct TLSJudgementTests {
  @Test(arguments: TLSVariant.all)
  func `accepts what is right and sends nothing to what is wrong`(_ variant: TLSVariant) async throws {
    try await Self.judge(variant.certificate, variant.arguments, at: variant.host, as: variant.verdict) {
      $0.retry = .none
    }
  }

  /// Asks a server with this certificate for something with a secret.
  private static func judge(
    _ certificate: String, _ arguments: [String] = [], at host: String = "localhost",
    as verdict: TLSVariant.Verdict, _ configure: (inout NetworkEngine.Configuration) -> Void
  ) async throws {
    // On another thread: the first one makes the certificates.
    let server = try await blocking { try TLSServer(certificate, arguments) }
    try await withWire {
      $0.tls.caFile = server.authority
      configure(&$0)
    } _: { wire in
      let operation = wire.engine.operation(url: "https://\(host):\(server.port)/secret")
        .setAuthorization("S3CR3T")
      switch verdict {
      case .accepts:
        async let answer = wire.answer(operation)
        let asked = try await blocking { try server.output(until: "\r\n\r\n") }
        #expect(asked.contains("GET /secret HTTP/1.1\r\n"))
        try server.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        #expect(try await answer.text == "hello")
      case .rejects(let reason):
        let error = try await wire.failure(operation)
        #expect(error.code == .tlsRejected && error.reason == reason, "\(error)")
        #expect(error.isRetrySafe)
        let printed = try server.stop()
        #expect(!printed.contains("GET /") && !printed.contains("S3CR3T"), "\(printed)")
      }
    }
  }

  /// Names belong into a subject alternative name (RFC 9110 section 4.3.4), if one insists.
  @Test(arguments: [("common-name-only", TLSVariant.Verdict.rejects("hostMismatch")), ("good", .accepts)])
  func `may insist on proper names`(_ certificate: String, _ verdict: TLSVariant.Verdict) async throws {
    try await Self.judge(certificate, as: verdict) { $0.tls.requiresSubjectAlternativeName = true }
  }

  /// libcurl would keep the connection that was refused, over HTTP/2.
  @Test func `insists on proper names for each request`() async throws {
    let server = try await blocking { try TLSServer("common-name-only", ["-alpn", "h2"]) }
    try await withWire {
      $0.tls.caFile = server.authority
      $0.tls.requiresSubjectAlternativeName = true
      $0.retry = .none
      $0.timeouts.headers = .seconds(5)
    } _: { wire in
      for _ in 0..<2 {
        let operation = wire.engine.operation(url: "https://localhost:\(server.port)/secret")
        let error = try await wire.failure(operation)
        #expect(error.code == .tlsRejected && error.reason == "hostMismatch", "\(error)")
      }
    }
    _ = try server.stop()
  }

  /// A pin holds beside the chain, and instead of nothing.
  @Test(
    arguments: [
      ("good", "good", .accepts), ("good", "good-rsa", .rejects("pinMismatch")),
      ("self-signed", "self-signed", .rejects("untrusted")),
    ] as [(String, String, TLSVariant.Verdict)])
  func `may insist on a key`(_ name: String, pinned: String, _ verdict: TLSVariant.Verdict) async throws {
    let pin = try await blocking { try Self.pin(of: pinned) }
    try await Self.judge(name, as: verdict) { $0.tls.pinnedPublicKey = pin }
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
