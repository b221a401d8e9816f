import NetSpool
import NetSpoolTesting
import Testing

@Suite("Secrets are never shown")
struct SecretTests {
  static let secret = "S3CR3T"
  static let password = "passw0rd-\(secret)"

  static let all: [NetworkCredentials] = [
    .basic(user: "anna", password: password), .password(user: "anna", password: password),
    .digest(user: "anna", password: password), .bearer(password), .fields(["X-Whatever": password]),
    .clientCertificate(path: "/c.pem", key: "/k.pem", password: password),
    NetworkCredentials.bearer(password).with(.clientCertificate(path: "/c.p12", password: password)),
  ]

  @Test(arguments: all.indices) func `in descriptions and dumps`(_ index: Int) throws {
    let credentials = Self.all[index]
    var configuration = NetworkEngine.Configuration()
    configuration.credentials = credentials
    configuration.proxy = NetworkEngine.Proxy("http://u:\(Self.password)@p:1").authenticated(
      user: "anna", password: Self.password)
    configuration.headers = ["Authorization": Self.password]
    let engine = try NetworkEngine(host: "example.org", configuration: configuration)
    var request = NetworkRequest(url: "https://u:\(Self.password)@example.org/?token=\(Self.password)")
    request.credentials = credentials
    let operation = engine.operation(request)
    var text = "\(credentials) \(request) \(operation) \(configuration) \(operation.curlCommand)"
    text += "\(String(reflecting: credentials)) \(String(reflecting: request)) \(configuration.headers)"
    text += engine.operation(path: "/").curlCommand
    dump(credentials, to: &text)
    dump(request, to: &text)
    dump(configuration, to: &text)
    #expect(!text.contains(Self.secret))
  }

  @Test func `a curl command shows them when told to`() throws {
    var configuration = NetworkEngine.Configuration()
    configuration.credentials = .bearer(Self.password)
    let engine = try NetworkEngine(host: "example.org", configuration: configuration)
    let own = engine.operation(path: "/")
    #expect(own.curlCommand(revealingSecrets: true).contains("Authorization: Bearer \(Self.password)"))
    #expect(own.curlCommand.contains("Bearer •••"))
    let elsewhere = engine.operation(url: "https://example.com/")
    #expect(!elsewhere.curlCommand(revealingSecrets: true).contains(Self.password))
    let digest = engine.operation(path: "/").setCredentials(.digest(user: "anna", password: Self.password))
    #expect(digest.curlCommand.contains("--digest --user 'anna:•••'"))
    let certificate = engine.operation(path: "/").setCredentials(
      .clientCertificate(path: "/c.pem", key: "/k.pem", password: Self.password))
    #expect(certificate.curlCommand.contains("--cert '/c.pem:•••' --key '/k.pem'"))
  }

  @Test(arguments: ["status", "refused", "reset", "redirect"])
  func `in errors`(_ kind: String) async throws {
    try await withEngine {
      $0.credentials = .password(user: "anna", password: Self.password)
    } _: { engine, origin in
      switch kind {
      case "status": origin.fallback(.status(500))
      case "refused": origin.fallback(BasicTests.challenge)
      case "reset": origin.fallback(.hangUp)
      default: origin.fallback(.redirect(to: "ftp://u:\(Self.password)@example.org/?token=\(Self.password)"))
      }
      let url = origin.url("/a?token=\(Self.password)&key=\(Self.password)")
      let ending = await engine.end(of: engine.operation(url: url))
      let error = try #require(ending.error)
      var text = "\(error) \(error.reason ?? "") \(error.url ?? "") \(String(reflecting: error.code))"
      dump(error.code, to: &text)
      #expect(!text.contains(Self.secret), "\(kind)")
    }
  }
}
