import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Nothing crosses from one credential to another")
struct CredentialScopeTests {
  /// Answers who asks, and lets everybody keep it.
  static func echo(_ origin: ScriptedOrigin) {
    origin.fallback { request in
      .text(request.header("Authorization") ?? request.header("X-Api-Key") ?? "nobody")
        .header("Cache-Control", "max-age=1000")
    }
  }

  static let users: [(NetworkCredentials, String)] = [
    (.bearer("a"), "Bearer a"), (.bearer("b"), "Bearer b"), (.fields(["X-Api-Key": "c"]), "c"),
  ]

  @Test func `equal questions of two users are two`() async throws {
    try await withEngine { engine, origin in
      Self.echo(origin)
      let users = (0..<40).map { "u\($0 % 4)" }
      let operations = users.map { engine.operation(path: "/a").setCredentials(.bearer($0)) }
      engine.enqueue(operations)
      for (user, operation) in zip(users, operations) {
        let ending = await operation.end()
        #expect(ending.text == "Bearer \(user)")
      }
      #expect(origin.requestCount >= 4)
    }
  }

  @Test func `cached answers stay with their user`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      Self.echo(origin)
      var cache = CacheConfiguration()
      cache.directory = folder.path
      try engine.useCache(cache)
      for round in 0..<2 {
        for (credentials, word) in Self.users {
          let ending = await engine.end(of: engine.operation(path: "/a").setCredentials(credentials))
          #expect(ending.text == word)
          #expect(ending.response?.isFromCache == (round == 1))
        }
        let nobody = await engine.get("/a").end()
        #expect(nobody.text == "nobody")
      }
      #expect(origin.requestCount == 4)
    }
  }

  @Test func `an engine's own stay with it`() async throws {
    let folder = try TestFolder()
    try await withEngine {
      $0.credentials = .bearer("a")
    } _: { engine, origin in
      Self.echo(origin)
      var cache = CacheConfiguration()
      cache.directory = folder.path
      try engine.useCache(cache)
      let own = await engine.get("/a").end()
      let again = await engine.get("/a").end()
      let other = await engine.end(of: engine.operation(path: "/a").setCredentials(.bearer("b")))
      #expect(own.text == "Bearer a" && again.text == "Bearer a" && other.text == "Bearer b")
      #expect(again.response?.isFromCache == true && origin.requestCount == 2)
    }
  }

  /// The rules of a shared cache know a request that authenticates when they see one (RFC 9111 section 3.5).
  @Test func `a shared cache does not keep them`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      Self.echo(origin)
      var cache = CacheConfiguration()
      cache.directory = folder.path
      cache.rules.isShared = true
      try engine.useCache(cache)
      for user in ["a", "b", "a"] {
        let ending = await engine.end(of: engine.operation(path: "/a").setCredentials(.bearer(user)))
        #expect(ending.text == "Bearer \(user)")
      }
      #expect(origin.requestCount == 3)
    }
  }
}
