import NetSpool
import Testing

@testable import TestSupport

@Suite("Digest against an acceptor", .needsPython, .ownThreads)
struct DigestAcceptorTests {
  static let algorithms = ["MD5", "SHA-256", "MD5-sess", "SHA-256-sess"]

  @Test(arguments: algorithms, ["auth", "auth-int"])
  func `is accepted`(_ algorithm: String, _ protection: String) async throws {
    let server = try CredentialServer()
    try await withWire { wire in
      for (count, path) in ["a", "b?c=d%20e", "f"].enumerated() {
        let url = server.url("/digest/\(algorithm)/\(protection)/\(path)")
        let operation = wire.engine.operation(url: url, method: .put).setBody(.bytes(Array("body".utf8)))
          .setCredentials(.digest(user: "user", password: "secret"))
        #expect(await wire.result(of: operation).text?.hasPrefix("user=user ") == true)
        // Refused once, for all three.
        #expect(server.requests().count == count + 2)
      }
    }
  }

  @Test(arguments: algorithms) func `is refused once with a wrong password`(_ algorithm: String) async throws
  {
    let server = try CredentialServer()
    try await withWire { wire in
      let operation = wire.engine.operation(url: server.url("/digest/\(algorithm)/auth/a"))
        .setCredentials(.digest(user: "user", password: "wrong"))
      let error = try await wire.failure(operation)
      #expect(error.code == .authenticationFailed && error.response?.status == 401, "\(error)")
      #expect(server.requests().map(\.status) == [401, 401])
    }
  }

  /// Each answer holds for its own body; a shared count would be refused as a repetition.
  @Test func `counts its answers while many are under way`() async throws {
    let server = try CredentialServer()
    try await withWire({ $0.queue.sizing = .fixed(1) }) { wire in
      let operations = (0..<30).map { number in
        wire.engine.operation(url: server.url("/digest/SHA-256/auth/\(number)"))
          .setCredentials(.digest(user: "user", password: "secret"))
      }
      for ending in await wire.engine.enqueue(operations).results {
        #expect(ending.text == "user=user body=none\n", "\(ending)")
      }
      #expect(server.requests().count { $0.status == 401 } == 1)
    }
  }

  @Test func `is not given to another origin`() async throws {
    let server = try CredentialServer()
    let other = try CredentialServer()
    try await withWire { wire in
      let target = other.url("/open/there", host: "localhost")
      let operation = wire.engine.operation(url: server.url("/digest/MD5/auth/a?to=\(target)"))
        .setCredentials(.digest(user: "user", password: "secret"))
      #expect(await wire.result(of: operation).text == "user=None body=none\n")
      #expect(other.requests().map(\.scheme) == [nil])
    }
  }
}
