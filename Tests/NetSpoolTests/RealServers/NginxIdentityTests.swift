import NetSpool
import Testing

@testable import TestSupport

@Suite("Client certificates and trust against nginx", .needsNginx)
struct NginxIdentityTests {
  enum Kind: String, CaseIterable, Sendable { case pem, keyApart, pkcs12 }

  @Test(arguments: Kind.allCases) func `shows the certificate`(_ kind: Kind) async throws {
    let server = try NginxServer.shared()
    let files = server.certificates
    let credentials: NetworkCredentials =
      switch kind {
      case .pem: .clientCertificate(path: files.client)
      case .keyApart: .clientCertificate(path: files.client, key: files.client)
      case .pkcs12: .clientCertificate(path: files.clientPKCS12, password: "secret")
      }
    try await withWire {
      $0.tls.caFile = files.authority
    } _: { wire in
      for _ in 0..<3 {
        let operation = wire.engine.operation(url: server.mutualTLSURL("/seen")).setCredentials(credentials)
        let answer = try await wire.answer(operation)
        #expect(answer.status == 200 && answer.text?.contains("client=CN") == true, "\(answer.text ?? "")")
        #expect(!"\(operation)".contains("secret"))
      }
    }
  }

  @Test func `belongs to the engine as well`() async throws {
    let server = try NginxServer.shared()
    let files = server.certificates
    try await withQueue { queue in
      var configuration = NetworkEngine.Configuration()
      configuration.queue = queue
      configuration.port = Int(server.mutualTLSPort)
      configuration.tls.caFile = files.authority
      configuration.credentials = .clientCertificate(path: files.client).with(.bearer("token"))
      let engine = try NetworkEngine(host: "localhost", configuration: configuration)
      let ending = await engine.get("/seen").end()
      #expect(ending.response?.status == 200, "\(ending)")
    }
  }

  @Test(arguments: ["missing", "wrongPassword", "noKey", "garbage"])
  func `a certificate that cannot be used is an error`(_ kind: String) async throws {
    let server = try NginxServer.shared()
    let files = server.certificates
    let folder = try TestFolder()
    let garbage = try folder.write("garbage.pem", Array("0garbage".utf8))
    let credentials: NetworkCredentials =
      switch kind {
      case "missing": .clientCertificate(path: folder["none.pem"])
      case "wrongPassword": .clientCertificate(path: files.clientPKCS12, password: "wrong")
      case "noKey": .clientCertificate(path: files.authority)
      default: .clientCertificate(path: garbage)
      }
    try await withWire {
      $0.tls.caFile = files.authority
    } _: { wire in
      let operation = wire.engine.operation(url: server.mutualTLSURL("/seen?\(kind)")).setCredentials(
        credentials)
      let error = try await wire.failure(operation)
      #expect(error.code == .tlsRejected && error.reason == "clientCertificate", "\(error)")
      #expect(error.isRetrySafe)
    }
    #expect(try !server.requests().contains { $0.target.hasSuffix(kind) })
  }

  @Test func `its connection serves no other credentials`() async throws {
    let server = try NginxServer.shared()
    let files = server.certificates
    try await withWire {
      $0.tls.caFile = files.authority
    } _: { wire in
      let known = wire.engine.operation(url: server.mutualTLSURL("/seen")).setCredentials(
        .clientCertificate(path: files.client))
      _ = try await wire.answer(known)
      let unknown = try await wire.failure(wire.engine.operation(url: server.mutualTLSURL("/seen")))
      #expect(unknown.response?.status == 400)
      let again = wire.engine.operation(url: server.mutualTLSURL("/seen")).setCredentials(
        .clientCertificate(path: files.client))
      let answer = try await wire.answer(again)
      #expect(answer.status == 200 && answer.metrics.connectionReused)
    }
  }

  @Test func `an unverified connection serves no other engine`() async throws {
    let server = try NginxServer.shared()
    try await withQueue { queue in
      var configuration = NetworkEngine.Configuration()
      configuration.queue = queue
      configuration.tls.unsafelyTrustsAnyCertificate = true
      let careless = try NetworkEngine(configuration: configuration)
      let first = await careless.end(of: careless.operation(url: server.tlsURL("/hello.txt")))
      #expect(first.text == "hello\n")
      configuration.tls.unsafelyTrustsAnyCertificate = false
      let careful = try NetworkEngine(configuration: configuration)
      let second = await careful.end(of: careful.operation(url: server.tlsURL("/hello.txt")))
      #expect(second.code == .tlsRejected && second.reason == "untrusted")
    }
  }

  @Test func `a proper name is accepted when it is required`() async throws {
    let server = try NginxServer.shared()
    let authority = server.certificates.authority
    try await withWire {
      $0.tls.caFile = authority
      $0.tls.requiresSubjectAlternativeName = true
    } _: { wire in
      for _ in 0..<3 {
        let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(answer.text == "hello\n")
      }
    }
  }

  @Test func `a session is resumed by the next connection`() async throws {
    let server = try NginxServer.shared()
    let files = server.certificates
    try await withWire {
      $0.tls.caFile = files.authority
      $0.httpVersion = .http1
    } _: { wire in
      func session(_ credentials: NetworkCredentials?) async throws -> String? {
        let operation = wire.engine.operation(url: server.tlsURL("/session")).setHeader("Connection", "close")
        operation.configure { $0.credentials = credentials }
        return try await wire.answer(operation).text
      }
      var seen: [String?] = []
      // Another identity begins anew.
      for credentials in [nil, nil, NetworkCredentials.clientCertificate(path: files.client)] {
        seen.append(try await session(credentials))
      }
      #expect(seen == [".", "r", "."])
    }
  }
}
