import NetSpool
import NetSpoolTesting
import Testing

/// Whose answers are whose: never one user's for another.
struct CacheScopeTests {
  @Test func `a name of the caller's own goes before fields`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/me") { request in
        .text(request.header("Authorization") ?? "nobody").header("Cache-Control", "max-age=1000")
      }
      @Sendable func ask(_ scope: String?, _ token: String?) async -> NetworkResponse? {
        let operation = engine.operation(path: "/me").configure { $0.credentialScope = scope }
        if let token { operation.setAuthorization(token) }
        return await engine.end(of: operation).response
      }
      #expect(await ask("ann", "1")?.source == .network)
      #expect(await ask("ann", "2")?.text == "Bearer 1")  // a renewed token of the same user
      #expect(await ask("bob", "1")?.source == .network)
      #expect(await ask(nil, "1")?.source == .network)
      #expect(await ask(nil, nil)?.text == "nobody")
      #expect(origin.requestCount == 4)
    }
  }

  @Test func `a redirect to another origin leaves the secrets, and the scope, behind`() async throws {
    try await withCache { engine, origin, _ in
      let other = try ScriptedOrigin()
      other.on("/b", .text("for all").header("Cache-Control", "max-age=1000"))
      origin.on("/a", .redirect(to: other.url("/b")))
      _ = await engine.fetch("/a", headers: ["Authorization": "Bearer 1"])
      #expect(other.requests.last?.header("Authorization") == nil)
      let plain = engine.operation(url: other.url("/b"))
      plain.cachePolicy = .onlyIfCached
      #expect(await engine.end(of: plain).text == "for all")
    }
  }
}
