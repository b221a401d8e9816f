import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What cannot be kept is refused before anything is stored or sent; what must not be written is not.
struct FreezingRefusalTests {
  private let fixture: FreezingFixture

  init() throws { fixture = try FreezingFixture() }

  @Test func `a request that changes nothing is sent like any other`() async throws {
    fixture.origin.on("/page", .text("here"))
    try await fixture.live { engine in
      let operation = engine.operation(path: "/page")
      operation.isFreezable = true
      operation.onFrozen { _ in Issue.record("a GET was frozen") }
      #expect(await engine.end(of: operation).text == "here")
    }
  }

  @Test func `bodies that are large or can be read once are refused, and streams for answers`() async throws {
    let fixture = try FreezingFixture { $0.bodyBytesMax = 5 }
    try await fixture.live { engine in
      let once = engine.operation(path: "/letters", method: .post)
      once.setUploadStream(ScriptedUpload([.bytes([1])]))
      once.isFreezable = true
      let streamed = engine.letter("/letters").addDownloadStream(MemoryDownloadStream())
      for (operation, reason) in [(once, "stream"), (streamed, "streams")] {
        let error = await engine.end(of: operation).error
        #expect(error?.code == .invalidRequest && error?.reason == reason)
      }
      #expect(await engine.end(of: engine.letter("/letters", "hello!")).code == .bodyTooLarge)
      #expect(engine.frozenOperations.isEmpty && fixture.origin.requestCount == 0)
    }
  }

  @Test func `no more than so many are kept`() async throws {
    let fixture = try FreezingFixture { $0.requestsMax = 2 }
    fixture.origin.stop()
    try await fixture.live { engine in
      _ = await engine.freeze(engine.letter("/1"))
      _ = await engine.freeze(engine.letter("/2"))
      #expect(await engine.end(of: engine.letter("/3")).error?.code == .queueFull)
      #expect(engine.frozenOperations.count == 2)
    }
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(2_000_000_000)])
  func `a lifetime out of range is refused before anything is kept`(lifetime: Duration) async throws {
    try await fixture.live { engine in
      let letter = engine.letter("/letters").configure { $0.freezing.lifetime = lifetime }
      letter.onFrozen { _ in Issue.record("it was frozen") }
      let error = await engine.end(of: letter).error
      #expect(error?.code == .invalidConfiguration && error?.reason == "lifetime")
      #expect(engine.deadLetters.isEmpty && fixture.origin.requestCount == 0)
    }
  }

  @Test func `files are taken in when it is frozen`() async throws {
    fixture.origin.stop()
    let folder = try TestFolder(in: TestFiles.fast)
    let path = try folder.write("letter", "as it was")
    try await fixture.live { engine in
      let operation = engine.letter("/letters", method: .put).setBody(.file(path, contentType: "text/plain"))
      _ = await engine.freeze(operation)
      try folder.write("letter", "something else")
      try fixture.origin.start()
      #expect(await operation.end().text == "taken")
      #expect(fixture.origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["as it was"])
    }
  }

  @Test func `a file that is not there is said at once`() async throws {
    try await fixture.live { engine in
      let operation = engine.letter("/letters", method: .put).setBody(.file("/nowhere/at/all"))
      #expect(await engine.end(of: operation).code == .uploadSourceFailed)
    }
  }

  /// What becomes of a request that was frozen with `X-Api-Key` in an earlier life, which was not written, given these secrets
  /// in the next, of which the origin refuses so many.
  private static func thawed(
    _ secrets: NetworkRequest.Headers, refusals: Int = 0
  ) async throws -> (FreezingFixture, Result<NetworkResponse, NetworkError>) {
    let fixture = try FreezingFixture {
      $0.secrets = { operation in operation.secretFields.contains("X-Api-Key") ? secrets : [:] }
    }
    fixture.origin.stop()
    try await fixture.live { engine in
      let letter = engine.letter("/letters").setHeader("X-Api-Key", "first-s3cret")
      _ = await engine.freeze(letter.setHeader("X-Colour", "blue"))
      #expect(engine.frozenOperations.first?.secretFields == ["X-Api-Key"])
    }
    let store = fixture.folder.path + "/frozen/data.mdb"
    #expect(try TestFiles.file(store, holds: "blue") && !TestFiles.file(store, holds: "s3cret"))
    try fixture.origin.start()
    for _ in 0..<refusals { fixture.origin.enqueue(.status(401), for: "/letters") }
    var outcome: ThawedOutcome?
    try await fixture.live { engine in outcome = try await engine.thawed() }
    return (fixture, try #require(outcome).result)
  }

  @Test func `secrets are asked for and never written, and no others are in the request`() async throws {
    let (fixture, outcome) = try await Self.thawed(
      ["X-Api-Key": "later", "Content-Length": "0", "Host": "evil.example", "X-Other": "1"])
    #expect(try outcome.get().status == 200)
    let sent = try #require(fixture.origin.requests.first)
    #expect(sent.header("X-Api-Key") == "later" && sent.header("X-Other") == nil)
    #expect(sent.header("X-Colour") == "blue")
    #expect(sent.headers.all("Host") == ["127.0.0.1:\(fixture.origin.port)"])
    #expect(sent.headers.all("Content-Length") == ["5"])
  }

  @Test(arguments: ["a\r\nInjected: 2", "a\n", "a\r", "a\0", "\r\n", "a\n\r\nInjected: 2"])
  func `a secret with a line end is not sent, and the failure names the setting`(_ value: String)
    async throws
  {
    let (fixture, outcome) = try await Self.thawed(["X-Api-Key": value])
    #expect(outcome.code == .frozenRejected)
    #expect(fixture.origin.requestCount == 0)
  }

  @Test(arguments: [1, 2])
  func `secrets that are refused are asked for once more`(refusals: Int) async throws {
    let (fixture, outcome) = try await Self.thawed(["X-Api-Key": "later"], refusals: refusals)
    #expect(outcome.code == (refusals == 1 ? nil : .frozenRejected))
    #expect(fixture.origin.requestCount == 2)
  }

  @Test func `a provider is not asked for what the operation knows`() async throws {
    let asked = Counter()
    let fixture = try FreezingFixture { configuration in
      configuration.secrets = { _ in
        asked.add()
        return ["Authorization": "Basic somebody-else"]
      }
    }
    try await fixture.live { engine in
      let operation = engine.letter("/letters").setCredentials(
        user: "anna", password: "pass", preemptive: true)
      #expect(await engine.end(of: operation).text == "taken")
      #expect(asked.value == 0)
      #expect(fixture.origin.requests.first?.header("Authorization") == "Basic YW5uYTpwYXNz")
      fixture.origin.enqueue(.status(401), for: "/letters")
      let refused = engine.letter("/letters").setHeader("X-Api-Key", "its own")
      #expect(await engine.end(of: refused).code == .frozenRejected)
      #expect(asked.value == 0 && fixture.origin.requestCount == 2)
    }
  }

  /// What failed is a step of this side, which may do better; that the provider's own engine was closed, too.
  @Test func `a provider of credentials that fails refuses no request`() async throws {
    struct Away: Error {}
    let own = [NetworkError.Code.engineClosed, .decodeFailed, .redirectRefused].map { NetworkError(code: $0) }
    let failures = Variable<[any Error]>(own + [Away()])
    fixture.origin.on("/letters") { request in
      request.header("Authorization") == "Bearer t" ? .text("taken") : .status(401)
    }
    try await fixture.live {
      $0.credentials = .provider { _ in
        if let failure = failures.value.popLast() { throw failure }
        return .bearer("t")
      }
    } _: { engine in
      let told = Journal<String>()
      let letter = engine.letter("/letters").onAttempt { attempts, error in
        told.add("\(attempts) \(error.code)")
      }
      #expect(await engine.end(of: letter).text == "taken")
      let codes = ["authenticationFailed", "redirectRefused", "decodeFailed", "engineClosed"]
      #expect(told.entries == codes.map { "0 \($0)" })
      #expect(engine.deadLetters.isEmpty && fixture.origin.requestCount == 6)
    }
  }

  @Test func `a 401 behind a redirect has no request without a key sent again`() async throws {
    struct Away: Error {}
    let fixture = try FreezingFixture { $0.idempotencyKeyField = nil }
    fixture.origin.on("/letters", .redirect(to: "/done", status: 303))
    fixture.origin.on("/done", .status(401))
    try await fixture.live {
      $0.credentials = .provider { _ in throw Away() }
    } _: { engine in
      #expect(await engine.end(of: engine.letter("/letters")).code == .outcomeUnknown)
      #expect(fixture.origin.hits("/letters") == 1)
    }
  }

  @Test func `a provider of credentials that has none lets the refusal count`() async throws {
    fixture.origin.on("/letters", .status(401))
    try await fixture.live {
      $0.credentials = .provider { _ in nil }
    } _: { engine in
      #expect(await engine.end(of: engine.letter("/letters")).code == .frozenRejected)
      #expect(fixture.origin.requestCount == 1)
    }
  }

  @Test func `an equal request of a later life brings its secrets`() async throws {
    let maySend = Variable(false)
    let fixture = try FreezingFixture { $0.maySend = { _ in maySend.value } }
    func letter(_ engine: NetworkEngine, _ key: String) -> NetworkOperation {
      engine.letter("/letters").setHeader("X-Api-Key", key).configure { $0.freezing.dedupeKey = "once" }
    }
    try await fixture.live { engine in _ = await engine.freeze(letter(engine, "old")) }
    try await fixture.live { engine in
      let again = letter(engine, "new")
      #expect(await engine.freeze(again).isDuplicate)
      maySend.value = true
      engine.thaw()
      #expect(await again.end().text == "taken")
      #expect(fixture.origin.requests.map { $0.header("X-Api-Key") } == ["new"])
    }
  }

  @Test func `another process is told who has the store`() async throws {
    try await fixture.live { engine in
      try fixture.folder.link("link", to: fixture.folder["frozen"])
      try await withEngine { other, _ in
        var configuration = fixture.configuration
        configuration.directory = fixture.folder["link"]
        #expect(throws: NetworkError.self) { try other.useFreezing(configuration) }
      }
    }
  }

  @Test func `options out of range are named`() async throws {
    let rows: [(String, (inout FreezeConfiguration) -> Void)] = [
      ("bytesMax", { $0.bytesMax = 1 }), ("requestsMax", { $0.requestsMax = 0 }),
      ("lifetime", { $0.lifetime = .zero }), ("attemptsMax", { $0.attemptsMax = 0 }),
      ("idempotencyKeyField", { $0.idempotencyKeyField = "not a token" }),
      // It says where the body ends, and carries no key.
      ("idempotencyKeyField", { $0.idempotencyKeyField = "Content-Length" }),
    ]
    try await withEngine { engine, _ in
      for (option, change) in rows {
        var configuration = fixture.configuration
        change(&configuration)
        let error = #expect(throws: NetworkError.self) { try engine.useFreezing(configuration) }
        #expect(error?.code == .invalidConfiguration && error?.reason == option)
      }
    }
  }
}
