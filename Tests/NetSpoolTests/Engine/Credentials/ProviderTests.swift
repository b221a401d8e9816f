import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Providers of credentials")
struct ProviderTests {
  static func demand(_ token: @escaping @Sendable () -> String, of origin: ScriptedOrigin) {
    origin.fallback { request in
      request.header("Authorization") == "Bearer \(token())" ? .text("in") : .text("out", status: 401)
    }
  }

  @Test func `is asked once for many`() async throws {
    let asked = Counter()
    try await withEngine {
      $0.credentials = .provider { _ in .bearer("t\(asked.add())") }
    } _: { engine, origin in
      Self.demand({ "t1" }, of: origin)
      let operations = engine.start((0..<100).map { engine.operation(path: "/\($0)") })
      for operation in operations {
        let ending = await operation.end()
        #expect(ending.text == "in", "\(ending)")
      }
      #expect(asked.value == 1)
    }
  }

  /// The one before has been refused by its challenge.
  @Test func `may give another account of a kind that waits for a challenge`() async throws {
    let valid = Variable("one")
    try await withEngine {
      $0.credentials = .provider { _ in .basic(user: "user", password: valid.value, preemptive: false) }
    } _: { engine, origin in
      origin.fallback { request in
        let expected = "Basic " + Base64.encode(Array("user:\(valid.value)".utf8))
        if request.header("Authorization") == expected { return .text("in") }
        return .text("out", status: 401).header("WWW-Authenticate", "Basic realm=\"r\"")
      }
      for password in ["one", "two", "three"] {
        valid.value = password
        let ending = await engine.get("/a").end()
        #expect(ending.text == "in", "\(ending)")
      }
    }
  }

  @Test func `is asked again where it has not answered for long`() async throws {
    let asked = Counter()
    let provider = CredentialProvider(patience: 0) { _ in
      if asked.add() == 1 { try await Task.sleep(for: .seconds(600)) }
      return .bearer("in")
    }
    let origin = "https://example.org"
    let response = NetworkResponse(
      head: ResponseHead(version: .http11, status: 401, headers: [:]), body: .empty, source: .network,
      finalURL: origin, metrics: .init(), streams: [])
    let refusal = NetworkCredentials.Refusal(url: origin, method: .get, response: response)
    let given = Latch()
    provider.renew(0, for: origin, refusal) { _ in }
    provider.renew(0, for: origin, refusal) { if case .success = $0 { given.open() } }
    await given.opened()
    #expect(asked.value == 2)
  }

  @Test func `is asked again when the token has expired`() async throws {
    let asked = Counter()
    let valid = Variable("t1")
    try await withEngine {
      $0.credentials = .provider { _ in .bearer("t\(asked.add())") }
    } _: { engine, origin in
      Self.demand({ valid.value }, of: origin)
      let first = await engine.get("/a").end()
      let second = await engine.get("/b").end()
      valid.value = "t2"
      let third = await engine.get("/c").end()
      #expect(first.text == "in" && second.text == "in" && third.text == "in")
      #expect(asked.value == 2 && origin.requestCount == 5)
    }
  }

  @Test func `lets one that shares keep to its total while it is asked`() async throws {
    let (isAsked, gives) = (Latch(), Latch())
    try await withEngine {
      $0.credentials = .provider { _ in
        isAsked.open()
        await gives.opened()
        return .bearer("in")
      }
    } _: { engine, origin in
      origin.fallback { $0.header("Authorization") == nil ? .status(401) : .text("in") }
      let first = engine.start("/a")
      await isAsked.opened()
      let second = engine.operation(path: "/a")
      second.timeouts.total = .milliseconds(200)
      let ending = await engine.end(of: second)
      #expect(ending.code == .timedOut && ending.reason == "total", "\(ending)")
      gives.open()
      #expect(await first.end().text == "in")
    }
  }

  @Test func `sees the refusal`() async throws {
    let seen = Variable<[String]>([])
    try await withEngine {
      $0.credentials = .provider { request in
        let words = [request.method.description, "\(request.response.status)", request.response.text ?? ""]
        seen.value = words + [request.response.headers["WWW-Authenticate"] ?? ""]
        return .fields(["X-Session": "s"])
      }
    } _: { engine, origin in
      origin.fallback { request in
        request.header("X-Session") == "s"
          ? .text("in") : .text("log in", status: 401).header("WWW-Authenticate", "Form")
      }
      let operation = engine.operation(path: "/a", method: .put).setBody(.bytes(Array("body".utf8)))
      let ending = await engine.end(of: operation)
      #expect(ending.text == "in" && origin.requests.map(\.text) == ["body", "body"])
      #expect(seen.value == ["PUT", "401", "log in", "Form"])
    }
  }

  @Test func `may give what waits for a challenge`() async throws {
    try await withEngine {
      $0.credentials = .provider { _ in .digest(user: "user", password: "secret") }
    } _: { engine, origin in
      origin.fallback { request in
        DigestFlowTests.accepts(request, password: "secret") ? .text("in") : DigestFlowTests.refusal()
      }
      #expect(await engine.get("/a").end().text == "in" && origin.requestCount == 3)
    }
  }

  struct Stranger: Error { let secret = "S3CR3T" }

  @Test(arguments: ["nothing", "error", "own", "useless"])
  func `without a token the 401 is the end`(_ kind: String) async throws {
    let asked = Counter()
    try await withEngine {
      $0.credentials = .provider { _ in
        switch kind {
        case "error": throw Stranger()
        case "own": throw NetworkError(code: .offline)
        case "useless": return .bearer("useless\(asked.add())")
        default: return nil
        }
      }
    } _: { engine, origin in
      Self.demand({ "t1" }, of: origin)
      let ending = await engine.get("/a").end()
      #expect(ending.code == (kind == "own" ? .offline : .authenticationFailed), "\(ending)")
      #expect(ending.error?.response?.text == "out")
      #expect(!"\(ending)".contains("S3CR3T"))
      #expect(origin.requestCount == (kind == "useless" ? 2 : 1))
    }
  }

  /// A provider that has been asked, and answers when it is let go.
  private struct Held {
    let asked = AsyncStream<Void>.makeStream()
    let go = AsyncStream<Void>.makeStream()

    var credentials: NetworkCredentials {
      .provider { [asked, go] _ in
        asked.continuation.yield()
        for await _ in go.stream { break }
        return .bearer("t1")
      }
    }
  }

  @Test func `an operation that is cancelled meanwhile is gone`() async throws {
    let held = Held()
    try await withEngine({ $0.credentials = held.credentials }) { engine, origin in
      Self.demand({ "t1" }, of: origin)
      let (gone, stays) = (engine.start("/a"), engine.start("/b"))
      for await _ in held.asked.stream { break }
      gone.cancel()
      #expect(await gone.end().code == .cancelled)
      held.go.continuation.yield()
      #expect(await stays.end().text == "in")
    }
  }

  @Test func `ends with its engine`() async throws {
    let held = Held()
    var last: NetworkOperation?
    try await withEngine({ $0.credentials = held.credentials }) { engine, origin in
      Self.demand({ "t1" }, of: origin)
      last = engine.start("/a")
      for await _ in held.asked.stream { break }
    }
    #expect(await last?.end().code == .engineClosed)
    held.go.continuation.yield()
  }
}
