import NetSpool
import Testing

@testable import TestSupport

@Suite("A proxy that does not do what it should", .ownThreads)
struct ProxyFaultTests {
  /// What it answers to CONNECT before it closes, and what is said of it.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let answer: String
    let reason: String
    var testDescription: String { name }
  }

  static let rows = [
    Row(name: "502", answer: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", reason: "response"),
    Row(name: "403", answer: "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", reason: "response"),
    Row(name: "302", answer: "HTTP/1.1 302 Found\r\nLocation: http://a/\r\n\r\n", reason: "response"),
    Row(
      name: "407",
      answer: "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=a\r\nContent-Length: 0\r\n\r\n",
      reason: "authentication"),
    Row(name: "garbage", answer: "nonsense\r\n\r\n", reason: "response"),
    Row(name: "nothing", answer: "", reason: "response"),
    Row(
      name: "fields without end",
      answer: "HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: b\r\n", count: 400) + "\r\n", reason: "response"
    ),
    Row(
      name: "a field without end", answer: "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 30_000),
      reason: "response"),
    Row(
      name: "informational answers without end",
      answer: String(repeating: "HTTP/1.1 103 Hints\r\n\r\n", count: 50), reason: "response"),
    Row(name: "another protocol", answer: "HTTP/1.1 101 Switching\r\n\r\n", reason: "response"),
    Row(name: "half a head", answer: "HTTP/1.1 200 OK\r\nX-A: b", reason: "response"),
  ]

  @Test(arguments: rows) func `is to blame`(_ row: Row) async throws {
    // In a slot before the proxy begins to wait.
    try await TestSlots.run {
      let listening = try LocalSocket.listening()
      let played = Task { try await blocking { try Self.serveOne(listening, row.answer) } }
      try await withWire {
        $0.proxy = NetworkEngine.Proxy("http://127.0.0.1:\(listening.port)")
          .authenticated(user: "anna", password: "pr0xy")
        $0.timeouts.connect = .seconds(300)  // the proxy is of this process, which may be busy
      } _: { wire in
        let operation = wire.engine.operation(url: "https://netspool.invalid/secret?token=s3cret")
          .setHeader("Cookie", "c00kie")
        let error = try await wire.failure(operation)
        #expect(error.code == .proxyFailed && error.reason == row.reason, "\(error)")
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
      var head = ""
      while true {
        while !head.contains("\r\n\r\n") {
          let more = (try? connection.read(before: .generous)) ?? []
          if more.isEmpty { break }
          head += String(decoding: more, as: UTF8.self)
        }
        if head.hasPrefix("END") { return }
        guard head.contains("\r\n\r\n") else { break }
        rounds.add()
        head = ""
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
    var head = ""
    while !head.contains("\r\n\r\n") {
      let more = try connection.read(before: .generous)
      guard !more.isEmpty else { throw PartFailure("the client ended after: \(head)") }
      head += String(decoding: more, as: UTF8.self)
    }
    try connection.write(Array(answer.utf8))
    return head
  }
}
