import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("The way of connections")
struct ConnectionWayTests {
  @Test func `a name leads to the addresses that the caller gives`() async throws {
    try await withEngine {
      $0.resolve = ["api.example.invalid": ["127.0.0.1"], "Other.example.invalid:1": ["192.0.2.1"]]
    } _: { engine, origin in
      origin.fallback { .text($0.header("Host") ?? "") }
      for _ in 0..<2 {
        let operation = engine.operation(url: origin.url("/a", host: "api.example.invalid"))
        #expect(await engine.end(of: operation).text == "api.example.invalid:\(origin.port)")
      }
      let other = await engine.end(of: engine.operation(url: origin.url("/a", host: "none.example.invalid")))
      #expect(other.code == .resolveFailed)
    }
  }

  @Test func `a name with a port goes before one without, and one engine's addresses are not another's`()
    async throws
  {
    try await withEngine { engine, origin in
      origin.fallback { .text($0.header("Host") ?? "") }
      let name = "both.example.invalid"
      let one = try NetworkEngine(to: origin, on: engine.configuration.queue) {
        $0.resolve = [name: ["192.0.2.1"], "\(name):\(origin.port)": ["127.0.0.1"]]
      }
      #expect(await one.end(of: one.operation(url: origin.url("/a", host: name))).response?.status == 200)
      let plain = await engine.end(of: engine.operation(url: origin.url("/a", host: name)))
      #expect(plain.code == .resolveFailed)
    }
  }

  @Test func `credentials go in clear to this machine only, whatever a name says`() async throws {
    try await withEngine {
      $0.resolve = ["near.example.invalid": ["127.0.0.1"], "localhost": ["192.0.2.1"]]
    } _: { engine, origin in
      origin.fallback(.text("hello"))
      func end(_ host: String) async -> Ending {
        await engine.end(of: engine.operation(url: origin.url("/", host: host)).setAuthorization("token"))
      }
      #expect(await end("near.example.invalid").text == "hello")
      let far = await end("localhost")
      #expect(far.code == .invalidConfiguration && far.reason == "allowsCredentialsInClear")
    }
  }

  @Test(.needsNginx) func `a socket in the file system serves any host`() async throws {
    let path = try NginxServer.shared().http1Socket
    try await withWire({ $0.unixSocket = path }) { wire in
      for index in 0..<3 {
        let answer = try await wire.answer(wire.engine.operation(url: "http://docker.example.invalid/8k.bin"))
        #expect([UInt8](answer.body) == TestFiles.noise(8_192) && answer.httpVersion == "HTTP/1.1")
        #expect(answer.metrics.connectionReused == (index > 0))
      }
      let secret = wire.engine.operation(url: "http://docker.example.invalid/hello.txt")
        .setAuthorization("token")
      #expect(try await wire.answer(secret).text == "hello\n")
    }
    try await withWire({ $0.unixSocket = path + "-none" }) { wire in
      #expect(await wire.get("http://docker.example.invalid/").code == .connectFailed)
    }
  }

  @Test(.needsNginx) func `HTTP2 is spoken without TLS where it is known`() async throws {
    let path = try NginxServer.shared().http2Socket
    try await withWire({ ($0.unixSocket, $0.httpVersion) = (path, .http2PriorKnowledge) }) { wire in
      for index in 0..<20 {
        let answer = try await wire.answer(wire.engine.operation(url: "http://h2.example.invalid/8k.bin"))
        #expect([UInt8](answer.body) == TestFiles.noise(8_192) && answer.httpVersion == "HTTP/2")
        #expect(answer.metrics.connectionReused == (index > 0 && !Quirks.breaksKnownHTTP2))
      }
    }
  }

  @Test func `an origin that does not speak HTTP2 is not taken at its word`() async throws {
    let url = try NginxServer.shared().url("/8k.bin")
    try await withEngine({ $0.httpVersion = .http2PriorKnowledge }) { engine, _ in
      let ending = await engine.end(of: engine.operation(url: url))
      #expect([.http2Failed, .protocolViolation, .connectionLost].contains(ending.code))
    }
  }

  @Test func `a connection that is too old gets no other request`() async throws {
    try await withEngine({ $0.connectionAgeMax = .seconds(1) }) { engine, origin in
      origin.fallback(.text("hello"))
      // On a machine that is busy it takes some tries until two come within a second.
      var opened: ContinuousClock.Instant?
      for _ in 0..<100 {
        let began = ContinuousClock.now
        let isReused = try #require(await engine.get("/").end().response).metrics.connectionReused
        if isReused { break }
        if let opened { #expect(ContinuousClock.now - opened >= .seconds(1)) }
        opened = began
      }
      try await Task.sleep(for: .milliseconds(2_100))
      #expect(await engine.get("/").end().response?.metrics.connectionReused == false)
      #expect(origin.connectionCount >= 2)
    }
  }

  @Test(arguments: [
    ["a.example": []], ["a.example": ["nowhere"]], ["a.example/path": ["127.0.0.1"]], ["": ["127.0.0.1"]],
  ])
  func `addresses that are none are refused`(resolve: [String: [String]]) {
    #expect(NetworkEngine.refusal { $0.resolve = resolve } != nil)
  }

  private func reason(_ change: (inout NetworkEngine.Configuration) -> Void) -> String? {
    NetworkEngine.refusal(host: nil, change)?.reason
  }

  /// libcurl and the TLS library open files on the loop thread, and would wait for ever for who writes into a pipe.
  @Test func `a pipe where a file belongs is refused`() throws {
    let folder = try TestFolder()
    let pipe = folder.path + "/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(reason { $0.tls.caFile = pipe } == "tls.caFile")
    #expect(reason { $0.tls.caPath = pipe } == "tls.caPath")
    #expect(reason { $0.unixSocket = pipe } == "unixSocket")
    let credentials = [
      NetworkCredentials.clientCertificate(path: pipe), .clientCertificate(path: "/none", key: pipe),
    ]
    for credential in credentials {
      #expect(outcome { try credential.check() } == "invalidConfiguration(clientCertificate)")
    }
  }

  @Test func `what cannot go together is refused`() {
    #expect(reason { $0.unixSocket = "" } == "unixSocket")
    #expect(reason { $0.unixSocket = String(repeating: "a", count: 108) } == "unixSocket")
    #expect(reason { $0.connectionAgeMax = .milliseconds(999) } == "connectionAgeMax")
    #expect(reason { ($0.unixSocket, $0.egress) = ("/a", .publicOnly) } == "egress with a Unix socket")
    #expect(reason { ($0.unixSocket, $0.proxy) = ("/a", "http://a:3128") } == "a Unix socket behind a proxy")
  }
}
