import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Basic and Bearer")
struct BasicTests {
  static let challenge = Answer.status(401).header("WWW-Authenticate", "Basic realm=\"tests\"")
  static let basic = "Basic dXNlcjpzZWNyZXQ="  // user:secret

  /// 200 for those who bring this, 401 with a challenge for all others.
  static func demand(_ value: String, _ challenge: String, of origin: ScriptedOrigin) {
    origin.fallback { request in
      request.header("Authorization") == value
        ? .text("in") : .text("out", status: 401).header("WWW-Authenticate", challenge)
    }
  }

  /// Refused once at most; from then on it is known what the origin wants.
  @Test(
    arguments: [
      (.basic(user: "user", password: "secret"), []),
      (.basic(user: "user", password: "secret", preemptive: false), [nil]),
    ] as [(NetworkCredentials, [String?])])
  func `goes with the first request, or waits for the challenge when told so`(
    _ credentials: NetworkCredentials, refused: [String?]
  ) async throws {
    try await withEngine({ $0.credentials = credentials }) { engine, origin in
      Self.demand(Self.basic, "Basic realm=a", of: origin)
      for _ in 0..<3 { #expect(await engine.get("/a").end().text == "in") }
      let sent = origin.requests.map { $0.header("Authorization") }
      #expect(sent == refused + [Self.basic, Self.basic, Self.basic])
      if refused.isEmpty { #expect(origin.connectionCount == 1) }
    }
  }

  @Test(
    .needsNginx,
    arguments: [
      NetworkCredentials.basic(user: "user", password: "secret", preemptive: false),
      .password(user: "user", password: "secret"),
    ])
  func `twenty first requests at once all get in`(_ credentials: NetworkCredentials) async throws {
    let server = try NginxServer.shared()
    try await withWire { wire in
      let operations = wire.engine.start(
        (0..<20).map { number in
          wire.engine.operation(url: server.url("/basic/hello.txt?\(number)")).setCredentials(credentials)
        })
      for operation in operations { #expect(await operation.end().text == "hello\n") }
    }
  }

  @Test(arguments: [false, true]) func `belongs to one request`(_ preemptive: Bool) async throws {
    try await withEngine { engine, origin in
      Self.demand(Self.basic, "Basic realm=a", of: origin)
      let operation = engine.operation(path: "/a")
        .setCredentials(user: "user", password: "secret", preemptive: preemptive)
      #expect(await engine.end(of: operation).text == "in" && origin.requestCount == (preemptive ? 1 : 2))
      let other = await engine.get("/b").end()
      #expect(other.code == .status && origin.requests.last?.header("Authorization") == nil)
    }
  }

  @Test(
    arguments: [
      (.basic(user: "user", password: "wrong"), 1), (.password(user: "user", password: "wrong"), 2),
      (.bearer("wrong"), 1), (.fields(["X-Api-Key": "wrong"]), 1),
    ] as [(NetworkCredentials, Int)])
  func `a refused one is the end`(_ credentials: NetworkCredentials, asked: Int) async throws {
    try await withEngine({ $0.credentials = credentials }) { engine, origin in
      Self.demand(Self.basic, "Basic realm=a", of: origin)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .authenticationFailed && ending.error?.response?.text == "out", "\(ending)")
      #expect(ending.error?.response?.status == 401 && ending.error?.underlying == .http(401))
      #expect(origin.requestCount == asked)
    }
  }

  @Test func `without credentials a 401 is a status`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(Self.challenge)
      let ending = await engine.get("/a").end()
      #expect(ending.code == .status && ending.error?.response?.status == 401 && origin.requestCount == 1)
    }
  }

  @Test func `bearer and fields go along`() async throws {
    try await withEngine({ $0.credentials = .bearer("token") }) { engine, origin in
      origin.fallback(.text("in"))
      _ = await engine.get("/a").end()
      _ = await engine.end(of: engine.operation(path: "/b").setCredentials(.fields(["X-Api-Key": "key"])))
      _ = await engine.end(of: engine.operation(path: "/c").setHeader("Authorization", "Custom mine"))
      #expect(origin.requests.map { $0.header("Authorization") } == ["Bearer token", nil, "Custom mine"])
      #expect(origin.requests.map { $0.header("X-Api-Key") } == [nil, "key", nil])
    }
  }

  @Test(arguments: ["POST", "PUT"]) func `sends a body again`(_ method: String) async throws {
    try await withEngine({ $0.credentials = .password(user: "user", password: "secret") }) { engine, origin in
      Self.demand(Self.basic, "Basic realm=a", of: origin)
      let body = String(repeating: "body", count: 10_000)
      let operation = engine.operation(path: "/a", method: NetworkRequest.Method(method)).setBody(
        .bytes(Array(body.utf8)))
      #expect(await engine.end(of: operation).text == "in" && origin.requests.map(\.text) == [body, body])
    }
  }

  @Test func `does not send a one-shot stream twice`() async throws {
    let stream = ScriptedUpload([.bytes(Array("once".utf8))], isReopenable: false)
    try await withEngine({ $0.credentials = .password(user: "user", password: "secret") }) { engine, origin in
      Self.demand(Self.basic, "Basic realm=a", of: origin)
      let ending = await engine.end(of: engine.operation(path: "/a", method: .post).setUploadStream(stream))
      #expect(ending.code == .authenticationFailed && origin.requestCount == 1)
    }
    #expect(stream.opens == 1 && stream.closes == 1)
  }

  @Test func `goes to its own origin only`() async throws {
    let other = try ScriptedOrigin(answering: .text("there"))
    try await withEngine({ $0.credentials = .bearer("token") }) { engine, origin in
      origin.fallback(.text("here"))
      _ = await engine.end(of: engine.operation(url: other.url("/a")))
      _ = await engine.end(of: engine.operation(url: origin.url("/a", host: "localhost")))
      _ = await engine.end(of: engine.operation(url: origin.url("/a")))
      #expect(origin.requests.map { $0.header("Authorization") } == [nil, "Bearer token"])
    }
    #expect(other.requests.map { $0.header("Authorization") } == [nil])
  }

  @Test func `needs a host in an engine`() throws {
    #expect(NetworkEngine.refusal(host: nil) { $0.credentials = .bearer("token") } != nil)
  }

  /// 0.0.0.0 leads to this machine, but nobody can tell by its name.
  @Test(arguments: ["basic", "bearer", "fields", "own scheme", "own field", "userinfo", "header"])
  func `does not go in clear`(_ kind: String) async throws {
    try await withEngine { engine, origin in
      let userinfo = kind == "userinfo" ? "user:secret@" : ""
      let operation = engine.operation(url: origin.url("/a", host: userinfo + "0.0.0.0"))
      switch kind {
      case "basic": operation.setCredentials(user: "user", password: "secret", preemptive: true)
      case "bearer": operation.setCredentials(.bearer("token"))
      case "fields": operation.setCredentials(.fields(["X-Api-Key": "key"]))
      case "own scheme": operation.setAuthorization("token", scheme: "Token")
      case "own field":
        operation.setCredentials(.fields(["Authorization": "Digest key", "X-Api-Key": "key"]))
      case "header": operation.setAuthorization("token")
      default: break
      }
      let ending = await engine.end(of: operation)
      #expect(
        ending.code == .invalidConfiguration && ending.reason == "allowsCredentialsInClear", "\(ending)")
    }
  }

  @Test func `goes in clear when allowed`() async throws {
    try await withEngine({ $0.allowsCredentialsInClear = true }) { engine, origin in
      origin.fallback(.text("in"))
      let url = origin.url("/a", host: "0.0.0.0")
      let ending = await engine.end(of: engine.operation(url: url).setCredentials(.bearer("token")))
      #expect(ending.text == "in" && origin.requests.first?.header("Authorization") == "Bearer token")
    }
  }

  @Test(arguments: [
    NetworkCredentials.basic(user: "a:b", password: "c"), .basic(user: "a", password: "b\r\nX: y"),
    .bearer("a\nb"), .fields(["X-Key": "a\r\nb"]), .digest(user: "a\0", password: "b"),
  ]) func `unsendable ones are refused`(_ credentials: NetworkCredentials) async throws {
    try await withEngine { engine, origin in
      let ending = await engine.end(of: engine.operation(path: "/").setCredentials(credentials))
      #expect(ending.code == .invalidConfiguration && ending.reason == "credentials")
      #expect(origin.requestCount == 0 && origin.rejectedCount == 0)
    }
  }
}
