import NetSpool
import Testing

@testable import TestSupport

@Suite("The server that asks for NTLM and Digest credentials", .needsPython, .ownThreads)
struct CredentialServerTests {
  @Test func `signs connections in by NTLM`() throws {
    let server = try CredentialServer()
    let two = try Curl.run(
      "--ntlm", "-u", "TESTS\\user:secret", server.url("/ntlm/a"), server.url("/ntlm/b"))
    #expect(two.output == "user=user body=none\nuser=user body=none\n")
    let logged = server.requests()
    #expect(logged.map(\.status) == [401, 200, 200] && logged.map(\.user) == [nil, "user", "user"])
    #expect(logged.map(\.scheme) == ["NTLM", "NTLM", nil] && Set(logged.map(\.connection)) == [1])
    // Another connection is nobody's.
    #expect(try Curl.status(server.url("/ntlm/c")) == "401")
  }

  @Test(arguments: [("user:secret", "200"), ("TESTS\\other:password", "200"), ("user:password", "401")])
  func `knows its users`(_ credentials: String, _ status: String) throws {
    let server = try CredentialServer()
    #expect(try Curl.status("--ntlm", "-u", credentials, server.url("/ntlm/a")) == status)
  }

  @Test func `sends the body only with the last message`() throws {
    let server = try CredentialServer()
    #expect(try Curl.status("--ntlm", "-u", "user:secret", "-d", "hello", server.url("/ntlm/post")) == "200")
    #expect(server.requests().map(\.bodyBytes) == [0, 5])
  }

  @Test(arguments: ["/ntlm/forever/a", "/ntlm/cut/a", "/digest/MD5/auth/forever/a"])
  func `is never content where it should not be`(_ path: String) throws {
    let server = try CredentialServer()
    let scheme = path.hasPrefix("/ntlm") ? "--ntlm" : "--digest"
    #expect(try Curl.status(scheme, "-u", "user:secret", server.url(path)) == "401")
    #expect(!server.requests().contains { $0.status == 200 })
  }

  @Test(arguments: ["MD5", "SHA-256", "MD5-sess", "SHA-256-sess"])
  func `takes digests`(_ algorithm: String) throws {
    let server = try CredentialServer()
    let url = server.url("/digest/\(algorithm)/auth/a")
    #expect(try Curl.status("--digest", "-u", "user:secret", url) == "200")
    #expect(try Curl.status("--digest", "-u", "user:wrong", url) == "401")
    #expect(server.requests().map(\.status) == [401, 200, 401, 401])
  }

  @Test func `sends the engine elsewhere once content`() async throws {
    let server = try CredentialServer()
    let other = try CredentialServer()
    try await withWire { wire in
      let start = server.url("/open?to=\(other.url("/open/there", host: "localhost"))")
      let answer = try await wire.answer(wire.engine.operation(url: start).setAuthorization("S3CR3T"))
      #expect(answer.text == "user=None body=none\n")
      #expect(server.requests().map(\.scheme) == ["Bearer"])
      #expect(other.requests().map(\.scheme) == [nil])
    }
  }

  @Test func `tells the engine what it wants`() async throws {
    let server = try CredentialServer()
    try await withWire { wire in
      for (path, scheme) in [("/ntlm/a", "NTLM"), ("/digest/SHA-256/auth/a", "Digest ")] {
        let error = try await wire.failure(wire.engine.operation(url: server.url(path)))
        #expect(error.response?.status == 401)
        #expect(error.response?.headers["WWW-Authenticate"]?.hasPrefix(scheme) == true)
      }
    }
  }
}
