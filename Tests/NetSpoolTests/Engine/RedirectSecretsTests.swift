import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Redirects to another origin")
struct RedirectSecretsTests {
  static let secret = "S3CR3T"

  @Test func `see nothing of the engine and of the URL`() async throws {
    let other = try ScriptedOrigin(answering: .text("there"))
    try await withWire({ $0.headers = ["X-Api-Key": Self.secret] }) { wire in
      wire.origin.on("/a", .redirect(to: other.url("/b")))
      let url = "http://user:\(Self.secret)@127.0.0.1:\(wire.origin.port)/a"
      let answer = try await wire.answer(wire.engine.operation(url: url))
      #expect(answer.finalURL == other.url("/b"))
      #expect(wire.origin.requests.last?.header("Authorization")?.hasPrefix("Basic ") == true)
    }
    let request = try #require(other.requests.last)
    #expect(request.header("Authorization") == nil && request.header("X-Api-Key") == nil)
  }

  @Test func `are what an error is about`() async throws {
    let other = try ScriptedOrigin(answering: .status(404))
    try await withWire({ $0.retry = .none }) { wire in
      let goals = [other.url("/b"), "http://127.0.0.1:1/x", "http://no.such.invalid/x"]
      for (index, goal) in goals.enumerated() {
        wire.origin.on("/a", .redirect(to: goal))
        // Others who share the exchange are told the same.
        let operations = (0..<3).map { _ in wire.operation("/a") }
        await wire.engine.share("/a", at: wire.origin, operations)
        for operation in operations {
          let ending = await operation.end()
          #expect(ending.error?.url == goal, "\(ending)")
        }
        #expect(wire.origin.requests(for: "/a").count == index + 1)
      }
    }
  }

  @Test func `do not give the secrets back on the way home`() async throws {
    let other = try ScriptedOrigin()
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: other.url("/b")))
      other.on("/b", .redirect(to: wire.origin.url("/c")))
      wire.origin.on("/c", .text("home"))
      _ = try await wire.answer(wire.operation("/a").setHeader("X-Api-Key", Self.secret))
      #expect(wire.origin.requests.last?.path == "/c")
      #expect(wire.origin.requests.last?.header("X-Api-Key") == nil)
    }
  }

  @Test(arguments: ["POST", "PUT"]) func `do not get the body`(_ method: String) async throws {
    let other = try ScriptedOrigin()
    try await withWire { wire in
      wire.origin.on("/a", .redirect(to: other.url("/b"), status: 307))
      let operation = wire.operation("/a", NetworkRequest.Method(method)).setBody(
        .bytes(Array(Self.secret.utf8)))
      let error = try await wire.failure(operation)
      #expect(error.code == .redirectRefused && error.reason == "body")
    }
    #expect(other.requestCount == 0)
  }

  @Test func `userinfo in a location is ignored`() async throws {
    try await withWire { wire in
      let answer = try await wire.answer(wire.operation("/hostile/redir_userinfo"))
      #expect(answer.finalURL == wire.origin.url("/hostile/ok"))
      #expect(wire.origin.requests.last?.header("Authorization") == nil)
    }
  }

  @Test(arguments: ["redir_crlf", "redir_8k", "redir_two", "redir_empty"])
  func `a bad location is not asked for`(_ name: String) async throws {
    try await withWire { wire in
      _ = try await wire.failure(wire.operation("/hostile/\(name)"))
      #expect(wire.origin.requestCount == 1)
    }
  }
}
