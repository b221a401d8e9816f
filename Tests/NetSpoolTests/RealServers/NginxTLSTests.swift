import NetSpool
import Testing

@testable import TestSupport

@Suite("TLS against nginx", .needsNginx)
struct NginxTLSTests {
  private let server: NginxServer

  init() throws { server = try NginxServer.shared() }

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
      let answers = try await wire.engine.enqueue(operations).results.map { try $0.get() }
      for answer in answers {
        #expect([UInt8](answer.body) == TestFiles.noise(8_192))
        #expect(answer.httpVersion == "HTTP/2" && answer.metrics.httpVersion == "HTTP/2")
      }
      #expect(answers.contains { $0.metrics.tlsHandshake > .zero })
    }
    let logged = try server.requests().filter { $0.target.hasPrefix("/8k.bin?many") }
    #expect(logged.count == 100 && logged.allSatisfy { $0.version == "HTTP/2.0" }, "\(logged)")
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
}
