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

  /// The connection of the challenge is closed instead of an answer to the next request on it.
  @Test(arguments: [false, true])
  func `a connection that ends between two rounds is replaced`(hasAnsweredBefore: Bool) async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback { request in
        Self.accepts(request, password: "secret") ? .text("in") : Self.refusal()
      }
      if hasAnsweredBefore {
        #expect(await engine.get("/before").end().text == "in")
        // Every request has two rounds of its own, and each loses a connection.
        origin.enqueue(.hangUp, Self.refusal("stale=true", nonce: "n2"), .hangUp, for: "/a")
      } else {
        origin.enqueue(Self.refusal(), .hangUp, for: "/a")
      }
      let ending = await engine.get("/a").end()
      #expect(ending.text == "in", "\(ending)")
    }
  }

  @Test(arguments: ["MD5", "SHA-256", "MD5-sess", "SHA-256-sess"])
  func `is answered and remembered`(_ algorithm: String) async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback { request in
        Self.accepts(request, password: "secret") ? .text("in") : Self.refusal("algorithm=\(algorithm)")
      }
      for path in ["/a", "/a?b=c&d=%20", "/b"] {
        let ending = await engine.get(path).end()
        #expect(ending.text == "in", "\(ending)")
      }
      #expect(origin.requestCount == 4)  // one refusal for all
      let counts = origin.requests.compactMap { $0.header("Authorization") }
      #expect(counts.count == 3 && counts.last?.contains("nc=00000003") == true)
    }
  }

  @Test func `a wrong password is the end`() async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "wrong")
    } _: { engine, origin in
      origin.fallback { request in
        Self.accepts(request, password: "secret") ? .text("in") : Self.refusal()
      }
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && ending.error?.response?.text == "out")
      #expect(origin.requestCount == 2)
    }
  }

  @Test func `a stale nonce is replaced`() async throws {
    let nonce = Variable("n1")
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback { request in
        let now = nonce.value
        return Self.accepts(request, password: "secret", nonce: now)
          ? .text("in") : Self.refusal("stale=\(request.header("Authorization") != nil)", nonce: now)
      }
      let first = await engine.get("/a").end()
      nonce.value = "n2"
      let second = await engine.get("/a").end()
      #expect(first.text == "in" && second.text == "in" && origin.requestCount == 4)
    }
  }

  @Test func `endless staleness ends`() async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback(Self.refusal("stale=true"))
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && origin.requestCount == 3)
    }
  }

  @Test func `is not answered with basic`() async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback(BasicTests.challenge)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && origin.requestCount == 1)
    }
  }

  @Test func `a body is protected when asked for`() async throws {
    try await withEngine {
      $0.credentials = .digest(user: "user", password: "secret")
    } _: { engine, origin in
      origin.fallback { request in
        Self.accepts(request, password: "secret")
          ? .text("in")
          : .text("out", status: 401).header(
            "WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\", algorithm=SHA-256")
      }
      let operation = engine.operation(path: "/a", method: .put).setBody(.bytes(Array("body".utf8)))
      let ending = await engine.end(of: operation)
      #expect(ending.text == "in" && origin.requests.last?.text == "body")
    }
  }

  @Test func `two users are two`() async throws {
    try await withEngine { engine, origin in
      origin.fallback { request in
        Self.accepts(request, password: "secret") ? .text("in") : Self.refusal()
      }
      let right = engine.operation(path: "/a").setCredentials(.digest(user: "user", password: "secret"))
      let wrong = engine.operation(path: "/a").setCredentials(.digest(user: "user", password: "wrong"))
      engine.enqueue([right, wrong])
      let (a, b) = (await right.end(), await wrong.end())
      #expect(a.text == "in" && b.code == .authenticationFailed)
    }
  }
}
