import Glibc
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

  @Test func `files are taken in when it is frozen`() async throws {
    fixture.origin.stop()
    let folder = try TestFolder(in: TestFiles.fast)
    let path = folder.path + "/letter"
    try TestFiles.write("as it was".utf8, to: path)
    try await fixture.live { engine in
      let operation = engine.operation(path: "/letters", method: .put)
      operation.setBody(.file(path, contentType: "text/plain"))
      operation.isFreezable = true
      _ = await engine.freeze(operation)
      try TestFiles.write("something else".utf8, to: path)
      try fixture.origin.start()
      #expect(await operation.end().text == "taken")
      #expect(fixture.origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["as it was"])
    }
  }

  @Test func `a file that is not there is said at once`() async throws {
    try await fixture.live { engine in
      let operation = engine.operation(path: "/letters", method: .put)
      operation.setBody(.file("/nowhere/at/all"))
      operation.isFreezable = true
      #expect(await engine.end(of: operation).code == .uploadSourceFailed)
    }
  }

  @Test func `secrets are asked for and never written`() async throws {
    let fixture = try FreezingFixture { configuration in
      configuration.secrets = { operation in
        operation.secretFields.contains("X-Api-Key") ? ["X-Api-Key": "later-s3cret"] : [:]
      }
    }
    fixture.origin.stop()
    try await fixture.live { engine in
      let operation = engine.letter("/letters").setHeader("X-Api-Key", "first-s3cret")
      operation.setHeader("X-Colour", "blue")
      _ = await engine.freeze(operation)
      #expect(engine.frozenOperations.first?.secretFields == ["X-Api-Key"])
    }
    let store = fixture.folder.path + "/frozen/data.mdb"
    #expect(try TestFiles.file(store, holds: "blue") && !TestFiles.file(store, holds: "s3cret"))
    try fixture.origin.start()
    try await fixture.live { engine in
      _ = try await engine.thawed()
      let sent = try #require(fixture.origin.requests.first)
      #expect(sent.header("X-Api-Key") == "later-s3cret" && sent.header("X-Colour") == "blue")
    }
  }

  /// What becomes of a request that was frozen with `X-Api-Key` in an earlier life, given these secrets in the next.
  private static func thawed(
    _ secrets: NetworkRequest.Headers
  ) async throws -> (FreezingFixture, Result<NetworkResponse, NetworkError>) {
    let fixture = try FreezingFixture { $0.secrets = { _ in secrets } }
    fixture.origin.stop()
    try await fixture.live { engine in
      _ = await engine.freeze(engine.letter("/letters").setHeader("X-Api-Key", "first"))
    }
    try fixture.origin.start()
    var outcome: ThawedOutcome?
    try await fixture.live { engine in outcome = try await engine.thawed() }
    return (fixture, try #require(outcome).result)
  }

  @Test func `secrets that were not asked for stay out of the request`() async throws {
    let (fixture, outcome) = try await Self.thawed(
      ["X-Api-Key": "later", "Content-Length": "0", "Host": "evil.example", "X-Other": "1"])
    #expect(try outcome.get().status == 200)
    let sent = try #require(fixture.origin.requests.first)
    #expect(sent.header("X-Api-Key") == "later" && sent.header("X-Other") == nil)
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

  @Test func `the operation's own secrets are used while it lives`() async throws {
    try await fixture.live { engine in
      #expect(await engine.end(of: engine.letter("/letters").setHeader("X-Api-Key", "own")).text == "taken")
      #expect(fixture.origin.requests.first?.header("X-Api-Key") == "own")
    }
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
    }
  }

  @Test func `another process is told who has the store`() async throws {
    try await fixture.live { engine in
      let link = fixture.folder.path + "/link"
      #expect(unsafe symlink(fixture.folder.path + "/frozen", link) == 0)
      try await withEngine { other, _ in
        var configuration = fixture.configuration
        configuration.directory = link
        #expect(throws: NetworkError.self) { try other.useFreezing(configuration) }
      }
    }
  }

  @Test func `a field that says where the body ends carries no idempotency key`() async throws {
    let fixture = try FreezingFixture { $0.idempotencyKeyField = "Content-Length" }
    try await withEngine { engine, _ in
      let error = #expect(throws: NetworkError.self) { try engine.useFreezing(fixture.configuration) }
      #expect(error?.code == .invalidConfiguration && error?.reason == "idempotencyKeyField")
    }
  }

  @Test(arguments: ["bytesMax", "requestsMax", "lifetime", "attemptsMax", "idempotencyKeyField"])
  func `options out of range are named`(_ option: String) async throws {
    let fixture = try FreezingFixture { configuration in
      switch option {
      case "bytesMax": configuration.bytesMax = 1
      case "requestsMax": configuration.requestsMax = 0
      case "lifetime": configuration.lifetime = .zero
      case "attemptsMax": configuration.attemptsMax = 0
      default: configuration.idempotencyKeyField = "not a token"
      }
    }
    try await withEngine { engine, _ in
      let error = #expect(throws: NetworkError.self) { try engine.useFreezing(fixture.configuration) }
      #expect(error?.code == .invalidConfiguration && error?.reason == option)
    }
  }
}
