import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Digest against an origin")
struct DigestFlowTests {
  /// Checks answers as an origin does: the response is made again from the password.
  static func accepts(_ request: RecordedRequest, password: String, nonce: String? = nil) -> Bool {
    guard let value = request.header("Authorization") else { return false }
    var fields = Headers()
    fields.append(name: "X", value: value)
    guard let sent = AuthenticationChallenge.all(in: fields, named: "X").first, sent.scheme == "digest",
      let challenge = DigestChallenge(sent), nonce == nil || sent.text("nonce") == nonce,
      let count = sent.text("nc").flatMap({ UInt32($0, radix: 16) })
    else { return false }
    var answer = DigestAnswer(
      challenge: challenge, user: "user", password: password, method: request.method, target: request.target,
      count: count, clientNonce: sent.text("cnonce") ?? "")
    answer.body = request.body
    return answer.text.contains("response=\"\(sent.text("response") ?? "?")\"")
      && sent.text("uri") == request.target
  }

  static func refusal(_ parameters: String = "algorithm=MD5", nonce: String = "n1") -> Answer {
    .text("out", status: 401).header(
      "WWW-Authenticate", "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", \(parameters)")
  }

  /// The request has two rounds of its own, and each loses a connection.
  @Test func `a connection that ends between two rounds is replaced`() async throws {
    try await withUser { engine, origin in
      #expect(await engine.get("/before").end().text == "in")
      origin.enqueue(.hangUp, Self.refusal("stale=true", nonce: "n2"), .hangUp, for: "/a")
      let ending = await engine.get("/a").end()
      #expect(ending.text == "in", "\(ending)")
    }
  }

  /// The ways in which a server ends a connection that it has not announced to end.
  enum Closing: CaseIterable {
    /// Behind the challenge, while the answer to it is made, or a little later, when it is on its way.
    case behindChallenge, soonAfterChallenge
    /// Instead of an answer, with the request read.
    case hangUp, reset

    func rounds(nonce: String) -> [Answer] {
      let challenge = refusal("stale=true", nonce: nonce)
      let text = """
        HTTP/1.1 401 Unauthorized\r
        WWW-Authenticate: \(challenge.headers.first("WWW-Authenticate") ?? "")\r
        Content-Length: 0\r\n\r\n
        """
      return switch self {
      case .behindChallenge: [.raw([.text(text), .close])]
      case .soonAfterChallenge: [.raw([.text(text), .pause(.microseconds(Int.random(in: 0...800))), .close])]
      case .hangUp: [challenge, .hangUp]
      case .reset: [challenge, .raw([.reset])]
      }
    }
  }

  private func withUser(_ body: (NetworkEngine, ScriptedOrigin) async throws -> Void) async throws {
    try await withEngine({ $0.credentials = .digest(user: "user", password: "secret") }) { engine, origin in
      origin.fallback { request in Self.accepts(request, password: "secret") ? .text("in") : Self.refusal() }
      try await body(engine, origin)
    }
  }

  @Test(arguments: Closing.allCases, [Method.get, .put, .delete])
  func `an idempotent request is sent again when its connection ends between two rounds`(
    _ closing: Closing, _ method: Method
  ) async throws {
    try await withUser { engine, origin in
      for number in 0..<10 {
        // Given a connection that is kept and a nonce that is known, the second time on
        for answer in closing.rounds(nonce: "n\(number)") { origin.enqueue(answer, for: "/a") }
        // Then
        let operation = engine.operation(path: "/a", method: method)
        if method == .put { operation.setBody(.bytes(Array("body".utf8))) }
        let ending = await engine.end(of: operation)
        #expect(ending.text == "in", "\(number): \(ending)")
        #expect(method != .put || origin.requests.last?.text == "body")
      }
    }
  }

  @Test(arguments: [Answer.hangUp, .raw([.reset])])
  func `an idempotent request whose nonce is known is sent again when its idle connection ends`(
    _ ending: Answer
  ) async throws {
    try await withUser { engine, origin in
      #expect(await engine.get("/before").end().text == "in")
      for count in 3...6 {
        origin.enqueue(ending, for: "/a")
        let again = await engine.get("/a").end()
        // The nonce's count goes on: what was sent in vain may have been seen.
        let sent = origin.requests.last?.header("Authorization")
        #expect(again.text == "in", "\(again)")
        #expect(sent?.contains("nonce=\"n1\"") == true, "\(count): \(sent ?? "none")")
      }
    }
  }

  @Test(arguments: [(refusal("stale=true"), 3), (BasicTests.challenge, 1)])
  func `endless staleness ends, and a challenge of Basic is not answered`(challenge: Answer, asked: Int)
    async throws
  {
    try await withUser { engine, origin in
      origin.fallback(challenge)
      #expect(await engine.get("/a").end().code == .authenticationFailed && origin.requestCount == asked)
    }
  }

  @Test func `two users are two`() async throws {
    try await withUser { engine, _ in
      let right = engine.operation(path: "/a").setCredentials(.digest(user: "user", password: "secret"))
      let wrong = engine.operation(path: "/a").setCredentials(.digest(user: "user", password: "wrong"))
      engine.enqueue([right, wrong])
      let (a, b) = (await right.end(), await wrong.end())
      #expect(a.text == "in" && b.code == .authenticationFailed)
    }
  }
}
