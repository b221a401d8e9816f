import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Whose answers are kept apart, as a user sees it.
@Suite struct WhoseAnswerTests {
  @Test(arguments: ["X-CSRFToken", "Token", "DPoP", "X-Session-Id", "X-User-Id", "X-Tenant", "On-Behalf-Of"])
  func `nobody gets what was said to another`(field: String) async throws {
    try await withCache { engine, origin in
      origin.fallback { .text("for \($0.header(field) ?? "nobody")").header("Cache-Control", "max-age=100") }
      for name in ["ann", "bob", "ann"] {
        let operation = engine.operation(path: "/").setHeader(field, name)
        #expect(await engine.end(of: operation).text == "for \(name)")
      }
      #expect(await engine.get("/").end().text == "for nobody")
      #expect(origin.requests.count == 3)
    }
  }

  @Test func `fields that say nothing of the sender share one answer`() async throws {
    try await withCache { engine, origin in
      origin.fallback(.text("for all").header("Cache-Control", "max-age=100"))
      for number in 0..<50 {
        let operation = engine.operation(path: "/").setHeader("X-Request-Id", "\(number)")
        #expect(await engine.end(of: operation).text == "for all")
      }
      #expect(origin.requests.count == 1)
    }
  }

  @Test func `the caller says what is secret and what is not`() async throws {
    try await withCache {
      $0.secretFields = ["X-Request-Id"]
      $0.openFields = ["X-Sort-Key"]
    } _: { engine, origin in
      origin.fallback(.text("ok").header("Cache-Control", "max-age=100"))
      for number in 0..<4 {
        let operation = engine.operation(path: "/secret").setHeader("X-Request-Id", "s3cret\(number)")
        #expect(!"\(operation)".contains("s3cret"))
        _ = await engine.end(of: operation)
        _ = await engine.end(of: engine.operation(path: "/open").setHeader("X-Sort-Key", "\(number)"))
      }
      #expect(origin.requests.count { $0.target == "/secret" } == 4)
      #expect(origin.requests.count { $0.target == "/open" } == 1)
    }
  }

  private func withCache(
    _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    let folder = try TestFolder()
    try await withEngine(configure) { engine, origin in
      var cache = CacheConfiguration()
      cache.directory = folder.path
      try engine.useCache(cache)
      try await body(engine, origin)
    }
  }
}
