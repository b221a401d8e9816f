import NetSpool
import Testing

@testable import TestSupport

@Suite("Client certificates and trust against nginx", .needsNginx)
struct NginxIdentityTests {
  private let server: NginxServer

  init() throws { server = try NginxServer.shared() }

  enum Kind: String, CaseIterable, Sendable { case pem, keyApart, pkcs12 }

  @Test(arguments: Kind.allCases) func `shows the certificate`(_ kind: Kind) async throws {
    let files = server.certificates
    let credentials: NetworkCredentials =
      switch kind {
      case .pem: .clientCertificate(path: files.client)
      case .keyApart: .clientCertificate(path: files.client, key: files.client)
      case .pkcs12: .clientCertificate(path: files.clientPKCS12, password: "secret")
      }
    try await withWire({ $0.tls.caFile = files.authority }) { wire in
      for _ in 0..<3 {
        let operation = wire.engine.operation(url: server.mutualTLSURL("/seen")).setCredentials(credentials)
        let answer = try await wire.answer(operation)
        #expect(answer.status == 200 && answer.text?.contains("client=CN") == true, "\(answer.text ?? "")")
        #expect(!"\(operation)".contains("secret"))
      }
    }
  }

  @Test func `belongs to the engine as well`() async throws {
    let files = server.certificates
    try await withQueue { queue in
      let engine = try NetworkEngine(host: "localhost", on: queue) {
        $0.port = Int(server.mutualTLSPort)
        $0.tls.caFile = files.authority
        $0.credentials = .clientCertificate(path: files.client).with(.bearer("token"))
      }
      let ending = await engine.get("/seen").end()
      #expect(ending.response?.status == 200, "\(ending)")
    }
  }

  @Test(arguments: ["missing", "wrongPassword", "noKey", "garbage"])
  func `a certificate that cannot be used is an error`(_ kind: String) async throws {
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
    try await withWire({ $0.tls.caFile = files.authority }) { wire in
      let operation = wire.engine.operation(url: server.mutualTLSURL("/seen?\(kind)"))
        .setCredentials(credentials)
      let error = try await wire.failure(operation)
      #expect(error.code == .tlsRejected && error.reason == "clientCertificate", "\(error)")
      #expect(error.isRetrySafe)
    }
    #expect(try !server.requests().contains { $0.target.hasSuffix(kind) })
  }

  @Test func `its connection serves no other credentials`() async throws {
    let files = server.certificates
    try await withWire({ $0.tls.caFile = files.authority }) { wire in
      func seen() -> NetworkOperation { wire.engine.operation(url: server.mutualTLSURL("/seen")) }
      let client = NetworkCredentials.clientCertificate(path: files.client)
      _ = try await wire.answer(seen().setCredentials(client))
      #expect(try await wire.failure(seen()).response?.status == 400)
      let answer = try await wire.answer(seen().setCredentials(client))
      #expect(answer.status == 200 && answer.metrics.connectionReused)
    }
  }

  @Test func `an unverified connection serves no other engine`() async throws {
    try await withQueue { queue in
      let careless = try NetworkEngine(on: queue) { $0.tls.unsafelyTrustsAnyCertificate = true }
      #expect(await careless.end(of: careless.operation(url: server.tlsURL("/hello.txt"))).text == "hello\n")
      let careful = try NetworkEngine(on: queue)
      let second = await careful.end(of: careful.operation(url: server.tlsURL("/hello.txt")))
      #expect(second.code == .tlsRejected && second.reason == "untrusted")
    }
  }

  @Test func `a session is resumed by the next connection`() async throws {
    let files = server.certificates
    try await withWire({ ($0.tls.caFile, $0.httpVersion) = (files.authority, .http1) }) { wire in
      func session(_ credentials: NetworkCredentials?) async throws -> String? {
        let operation = wire.engine.operation(url: server.tlsURL("/session")).setHeader("Connection", "close")
        operation.configure { $0.credentials = credentials }
        return try await wire.answer(operation).text
      }
      // Another identity begins anew.
      let other = NetworkCredentials.clientCertificate(path: files.client)
      let seen = [try await session(nil), try await session(nil), try await session(other)]
      #expect(seen == [".", "r", "."])
    }
  }
}
