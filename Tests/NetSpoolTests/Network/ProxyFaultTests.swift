import NetSpool
import Testing

@testable import TestSupport

@Suite("A proxy that does not do what it should", .ownThreads)
struct ProxyFaultTests {
  /// What it answers to CONNECT before it closes.
  @Test(
    arguments: [
      ("502", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"),
      ("403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
      ("302", "HTTP/1.1 302 Found\r\nLocation: http://a/\r\n\r\n"),
      ("407", "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=a\r\nContent-Length: 0\r\n\r\n"),
      ("garbage", "nonsense\r\n\r\n"), ("nothing", ""),
      ("fields without end", "HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: b\r\n", count: 400) + "\r\n"),
      ("a field without end", "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 30_000)),
      ("informational answers without end", String(repeating: "HTTP/1.1 103 Hints\r\n\r\n", count: 50)),
      ("another protocol", "HTTP/1.1 101 Switching\r\n\r\n"), ("half a head", "HTTP/1.1 200 OK\r\nX-A: b"),
    ] as [(String, String)])
  func `is to blame`(_ name: String, _ answer: String) async throws {
    // In a slot before the proxy begins to wait.
    try await TestSlots.run {
      let listening = try LocalSocket.listening()
      let played = Task { try await blocking { try Self.serveOne(listening, answer) } }
      try await withWire {
        $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(listening.port)")
          .authenticated(user: "anna", password: "pr0xy")
        $0.timeouts.connect = .seconds(300)  // the proxy is of this process, which may be busy
      } _: { wire in
        let operation = wire.engine.operation(url: "https://netspool.invalid/secret?token=s3cret")
          .setHeader("Cookie", "c00kie")
        let error = try await wire.failure(operation)
        #expect(error.code == .proxyFailed, "\(error)")
        #expect(error.reason == (name == "407" ? "authentication" : "response"), "\(error)")
      }
      // It was told where to go, who we are, and nothing of the request.
      let asked = try await played.value
      #expect(asked.hasPrefix("CONNECT netspool.invalid:443 HTTP/1.1\r\n"))
      #expect(asked.contains("Proxy-Authorization: Basic "))
      #expect(!asked.contains("secret") && !asked.contains("s3cret") && !asked.contains("c00kie"))
    }
  }

  @Test(arguments: [true, false])
  func `challenges without end are its fault after a few rounds`(onOneConnection: Bool) async throws {
    try await TestSlots.run {
      let listening = try LocalSocket.listening()
      let rounds = Counter()
      let played = Task {
        try await blocking { try Self.challengeForEver(listening, rounds, onOneConnection: onOneConnection) }
      }
      try await withWire {
        $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(listening.port)")
          .authenticated(user: "anna", password: "pr0xy", by: .digest)
      } _: { wire in
        let error = try await wire.failure(wire.engine.operation(url: "https://netspool.invalid/"))
        #expect(error.code == .proxyFailed && error.reason == "authentication", "\(error)")
      }
      try LocalSocket.connected(to: listening.port).descriptor.write(Array("END\r\n\r\n".utf8))
      try await played.value
      #expect((2...4).contains(rounds.value), "\(rounds.value)")
    }
  }

  /// Says to each CONNECT that its nonce is old, until another client says END.
  private static func challengeForEver(
    _ listening: LocalSocket, _ rounds: Counter, onOneConnection: Bool
  ) throws {
    while true {
      let connection = try listening.accepted(before: .generous)
      while true {
        let head = connection.readHead()
        if head.hasPrefix("END") { return }
        guard head.contains("\r\n\r\n") else { break }
        rounds.add()
        let answer = """
          HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm="r", nonce="n\(rounds.value)", qop="auth", stale=true\r
          \(onOneConnection ? "" : "Connection: close\r\n")Content-Length: 0\r\n\r\n
          """
        try? connection.write(Array(answer.utf8))
        if !onOneConnection { break }
      }
    }
  }

  /// Bytes behind the head are the tunnel's, and no TLS.
  @Test func `what it puts into the tunnel is not TLS`() async throws {
    // In a slot before the proxy begins to wait.
    try await TestSlots.run {
      let listening = try LocalSocket.listening()
      let answer = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      let played = Task { try await blocking { try Self.serveOne(listening, answer) } }
      try await withWire({ $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(listening.port)") }) { wire in
        let error = try await wire.failure(wire.engine.operation(url: "https://netspool.invalid/"))
        #expect(error.code == .tlsRejected && error.isRetrySafe, "\(error)")
      }
      _ = try await played.value
    }
  }

  @Test func `its silence ends with the limit for connecting`() async throws {
    let listening = try LocalSocket.listening()
    try await withWire {
      $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(listening.port)")
      $0.timeouts.connect = .seconds(0.2)
    } _: { wire in
      let error = try await wire.failure(wire.engine.operation(url: "https://netspool.invalid/"))
      #expect(error.code == .timedOut && error.reason == "connect" && error.isRetrySafe, "\(error)")
    }
  }

  /// Reads one head, answers, and closes; answers what it read.
  private static func serveOne(_ listening: LocalSocket, _ answer: String) throws -> String {
    let connection = try listening.accepted(before: .generous)
    let head = connection.readHead()
    guard head.contains("\r\n\r\n") else { throw PartFailure("the client ended after: \(head)") }
    try connection.write(Array(answer.utf8))
    return head
  }
}
