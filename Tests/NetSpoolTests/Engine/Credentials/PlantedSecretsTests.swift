import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Many secrets, each in a place of its own, and everything that is written down afterwards.
@Suite("Planted secrets are found nowhere")
struct PlantedSecretsTests {
  static let fields = FieldMeaningTests.secrets
  /// The numbers of those that stand in a query, in a URL before the host, and in credentials.
  static let inQuery = fields.count..<fields.count + queryKeys.count
  static let inUserinfo = inQuery.upperBound..<inQuery.upperBound + 5
  static let count = inUserinfo.upperBound + 18

  static func secret(_ number: Int) -> String { "pl4nted-\(number)-s3cret" }

  static let queryKeys = [
    "token", "key", "sig", "signature", "secret", "password", "code", "X-Amz-Signature", "X-Amz-Credential",
    "access_token", "client_secret", "api_key", "accessToken", "user[password]", "id_token",
  ]

  static func credentials(_ number: Int) -> NetworkCredentials {
    let secret = secret(number)
    return switch number % 6 {
    case 0: .basic(user: "anna", password: secret)
    case 1: .password(user: "anna", password: secret)
    case 2: .digest(user: "anna", password: secret)
    case 3: .bearer(secret)
    case 4: .fields(["X-Whatever": secret])
    default: NetworkCredentials.bearer(secret).with(.clientCertificate(path: "/none.pem", password: secret))
    }
  }

  /// Puts a secret somewhere: into a field, the query, the userinfo, or credentials.
  static func operation(_ number: Int, _ engine: NetworkEngine, _ url: String) -> NetworkOperation {
    let secret = secret(number)
    switch number {
    case fields.indices: return engine.operation(url: url).setHeader(fields[number], "Basic \(secret)")
    case inQuery: return engine.operation(url: "\(url)?\(queryKeys[number - inQuery.lowerBound])=\(secret)")
    case inUserinfo: return engine.operation(url: url.replacing("://", with: "://anna:\(secret)@"))
    default: return engine.operation(url: url).setCredentials(credentials(number))
    }
  }

  @Test func `in what values say of themselves`() throws {
    let secret = Self.secret(0)
    let parameters: NetworkRequest.Parameters = ["tags": "swift", "token": secret]
    let field = try #require(
      NetworkRequest.Headers(dictionaryLiteral: ("X-Token", secret)).first { _ in true })
    let values: [Any] = [
      field, parameters, NetworkRequest.Body.form(parameters), NetworkRequest.Body.json(Array(secret.utf8)),
      NetworkCredentials.clientCertificate(path: "/c.pem", key: "/k.pem", password: secret),
    ]
    for value in values { #expect(!Self.words(of: value).contains(secret)) }
    #expect("\(parameters)" == "tags=swift&token=•••" && "\(field)" == "X-Token: •••")
  }

  @Test func `in what is said of a prefetch`() async throws {
    let nobody = try ScriptedOrigin(starts: false)
    let secret = Self.secret(0)
    let said = Journal<String>()
    try await withEngine { engine, _ in
      await withCheckedContinuation { continuation in
        engine.prefetch(
          [nobody.url("/a?token=\(secret)").replacing("://", with: "://anna:\(secret)@")],
          each: { said.add(Self.words(of: $0)) }, completion: { _ in continuation.resume() })
      }
    }
    #expect(said.entries.count == 1 && !said.entries[0].contains(secret), "\(said.entries)")
  }

  enum End: String, CaseIterable, Sendable {
    case answer, cached, unauthorized, challenged, status, reset, garbage, redirect, refused, cancelled
    case sinkFailed
  }

  @Test(arguments: End.allCases) func `in what is said of an operation`(_ end: End) async throws {
    let nobody = try ScriptedOrigin(starts: false)
    let folder = try TestFolder()
    let said = Journal<String>()
    try await withEngine {
      $0.onUnhandledFailure = { said.add("\($0) \(String(reflecting: $0))") }
      $0.allowsCredentialsInClear = true
    } _: { engine, origin in
      try engine.useCache(.patient(folder.path))
      Self.script(origin, end)
      for number in 0..<Self.count {
        let url = end == .refused ? nobody.url("/a\(number)") : origin.url("/a\(number)")
        let operation = Self.operation(number, engine, url)
        said.add("\(operation.curlCommand) \(Self.words(of: operation)) \(Self.words(of: operation.request))")
        if end == .cancelled { operation.cancel() }
        if end == .sinkFailed { operation.addDownloadStream(ClosureDownloadStream { _ in throw NoRoom() }) }
        switch await engine.end(of: operation) {
        case .success(let response):
          said.add("\(Self.words(of: response)) \(response.metrics) \(Self.words(of: response.streams))")
        case .failure(let error):
          said.add("\(Self.words(of: error)) \(error.reason ?? "") \(error.url ?? "")")
          if let response = error.response { said.add(Self.words(of: response)) }
        }
      }
    }
    // What the engine has written is on the disk now.
    let files = try Self.bytes(of: folder.path)
    #expect(end != .cached || Self.hold(files, "/a0"))
    for number in 0..<Self.count {
      let secret = Self.secret(number)
      #expect(!said.entries.contains { $0.contains(secret) }, "secret \(number)")
      // A URL is kept as it is: that is documented, and what a server is given there is no secret of ours.
      let isInURL = Self.inQuery.contains(number)
      #expect(isInURL || !Self.hold(files, secret), "secret \(number) is in a file")
    }
  }

  private static func script(_ origin: ScriptedOrigin, _ end: End) {
    switch end {
    case .answer, .cancelled, .refused, .sinkFailed: origin.fallback(.text("in"))
    case .cached: origin.fallback(Answer.text("in").header("Cache-Control", "max-age=100"))
    case .unauthorized:
      origin.fallback(Answer.text("out", status: 401).header("WWW-Authenticate", "Digest realm=a, nonce=b"))
    case .challenged: origin.fallback(BasicTests.challenge)
    case .status: origin.fallback(.text("busy", status: 500))
    case .reset: origin.fallback(.pattern(100).resetAfter(50))
    case .garbage: origin.fallback(.raw("nonsense\r\n\r\n"))
    case .redirect: origin.fallback { .redirect(to: "ftp://u:\(Self.secret(0))@example.org\($0.target)") }
    }
  }

  /// What a value says of itself.
  private static func words(of value: Any) -> String {
    var text = "\(value) \(String(reflecting: value)) "
    dump(value, to: &text)
    return text
  }

  private static func bytes(of folder: String) throws -> [UInt8] {
    try ChildProcess.run(["sh", "-c", "find \"$0\" -type f -exec cat {} +", folder]).output
  }

  /// By the bytes of memory: the files have megabytes, and there are many secrets.
  private static func hold(_ files: [UInt8], _ text: String) -> Bool {
    unsafe files.withUnsafeBytes { files in
      var rest = unsafe UnsafeRawBufferPointer(rebasing: files[...])
      while let first = unsafe memchr(rest.baseAddress!, CInt(text.utf8.first!), rest.count) {
        let place = unsafe UnsafeRawPointer(first) - rest.baseAddress!
        guard rest.count - place >= text.utf8.count else { return false }
        if unsafe memcmp(first, text, text.utf8.count) == 0 { return true }
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[(place + 1)...])
        if unsafe rest.isEmpty { return false }
      }
      return false
    }
  }

  /// The requests wait for a server that is down, and lie on the disk meanwhile.
  @Test func `in what waits to be sent`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.stop()
    try await fixture.live { engine in
      for number in 0..<Self.count where !Self.inQuery.contains(number) {
        let url = fixture.origin.url("/a\(number)")
        let operation = Self.operation(number, engine, url)
        operation.configure { request in
          (request.method, request.isFreezable) = (.post, true)
          request.body = .bytes(Array("body \(number)".utf8))
        }
        // Those that cannot be sent later as they are end with an error.
        let isSettled = Latch()
        operation.onFrozen { _ in isSettled.open() }.onError { _ in isSettled.open() }
        engine.enqueue(operation)
        await isSettled.opened()
      }
      let files = try Self.bytes(of: fixture.folder.path)
      #expect(Self.hold(files, "body \(Self.count - 2)"), "nothing is there")
      for number in 0..<Self.count { #expect(!Self.hold(files, Self.secret(number)), "secret \(number)") }
    }
  }

  @Test func `in what is said of an engine`() throws {
    for number in 0..<Self.count {
      let secret = Self.secret(number)
      var configuration = NetworkEngine.Configuration()
      configuration.credentials = Self.credentials(number)
      configuration.headers = [Self.fields[number % Self.fields.count]: secret]
      configuration.proxy = NetworkEngine.Proxy("http://anna:\(secret)@localhost:1").authenticated(
        user: "anna", password: secret)
      let engine = try NetworkEngine(host: "example.org", configuration: configuration)
      let operation = engine.operation(path: "/")
      let values: [Any] = [
        configuration, configuration.headers, Self.credentials(number), engine, operation, operation.request,
      ]
      let text = operation.curlCommand + values.map(Self.words).joined()
      #expect(!text.contains(secret), "secret \(number)")
      #expect(operation.curlCommand(revealingSecrets: true).contains(secret), "secret \(number)")
    }
  }
}

extension PlantedSecretsTests {
  @Test func `fields that the user has named are masked in descriptions of the engine as well`() throws {
    var configuration = NetworkEngine.Configuration()
    configuration.headers = ["X-Acme": "SECRET", "X-Other": "open"]
    configuration.secretFields = ["x-acme"]
    let engine = try NetworkEngine(host: "example.org", configuration: configuration)
    let text = Self.words(of: configuration) + Self.words(of: engine)
    #expect(!text.contains("SECRET") && text.contains("X-Other: open"))
  }
}

private struct NoRoom: Error {}
