import NetSpool
import Testing

@Suite("Secrets are never shown")
struct SecretTests {
  static let password = "passw0rd-S3CR3T"

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
}
