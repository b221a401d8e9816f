import NetSpool
import Testing

@testable import TestSupport

@Suite("TLS against nginx", .needsNginx)
struct NginxTLSTests {
  private let server: NginxServer

  init() throws { server = try NginxServer.shared() }

  @Test func `speaks HTTP2 to an origin it trusts`() async throws {
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/8k.bin?http2")))
      #expect([UInt8](answer.body) == TestFiles.noise(8_192))
      #expect(answer.httpVersion == "HTTP/2" && answer.metrics.httpVersion == "HTTP/2")
      #expect(answer.metrics.tlsHandshake > .zero)
    }
    #expect(try server.requests().filter { $0.target == "/8k.bin?http2" }.map(\.version) == ["HTTP/2.0"])
  }

  @Test func `speaks HTTP 1.1 when told so`() async throws {
    try await withWire({ ($0.tls.caFile, $0.httpVersion) = (server.authority, .http1) }) { wire in
      for _ in 0..<2 {
        let answer = try await wire.answer(wire.engine.operation(url: server.tlsURL("/hello.txt")))
        #expect(answer.httpVersion == "HTTP/1.1" && answer.text == "hello\n")
      }
    }
  }

  @Test func `sends many over one HTTP2 connection`() async throws {
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let operations = (0..<100).map { wire.engine.operation(url: server.tlsURL("/8k.bin?many\($0)")) }
      let results = await wire.engine.enqueue(operations).results
      for result in results {
        let body = try result.get().body
        #expect(body.count == 8_192)
      }
    }
    let logged = try server.requests().filter { $0.target.hasPrefix("/8k.bin?many") }
    #expect(logged.count == 100, "\(logged)")
    #expect(Set(logged.map(\.connection)).count == 1)
  }

  @Test func `puts over HTTP2`() async throws {
    let bytes = [UInt8](repeating: 7, count: 3 << 20) + TestFiles.noise(1_000)
    try await withWire({ $0.tls.caFile = server.authority }) { wire in
      let put = wire.engine.operation(url: server.tlsURL("/upload/http2"), method: .put).setBody(
        .bytes(bytes))
      let answer = try await wire.answer(put)
      #expect(answer.status == 201 && answer.httpVersion == "HTTP/2")
    }
    #expect(try server.file("upload/http2") == bytes)
  }

  /// How an origin is not trusted.
  enum Distrust: String, Sendable, CaseIterable {
    case systemAuthorities, missingFile, emptyFile, wrongPin, wrongHost
  }

  @Test(arguments: Distrust.allCases)
  func `sends nothing to an origin it does not trust`(_ distrust: Distrust) async throws {
    let folder = try TestFolder()
    let empty = try folder.write("empty.pem", [])
    var host = "localhost"
    if distrust == .wrongHost { host = "other.localhost" }
    let url = "https://\(host):\(server.tlsPort)/hello.txt?\(distrust)"
    try await withWire { configuration in
      switch distrust {
      case .systemAuthorities: break
      case .missingFile: configuration.tls.caFile = folder["none.pem"]
      case .emptyFile: configuration.tls.caFile = empty
      case .wrongHost: configuration.tls.caFile = server.authority
      case .wrongPin:
        configuration.tls.caFile = server.authority
        configuration.tls.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
      }
    } _: { wire in
      let error = try await wire.failure(wire.engine.operation(url: url).setAuthorization("S3CR3T"))
      let reason =
        switch distrust {
        case .systemAuthorities: "untrusted"
        case .missingFile, .emptyFile: "trustStore"
        case .wrongPin: "pinMismatch"
        case .wrongHost: "hostMismatch"
        }
      #expect(error.code == .tlsRejected && error.reason == reason && error.isRetrySafe, "\(error)")
    }
    let logged = try server.requests()
    #expect(!logged.contains { $0.target.hasSuffix("\(distrust)") })
  }
}
