import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Whose answers are kept apart, as a user sees it.
@Suite struct WhoseAnswerTests {
  @Test(arguments: ["X-CSRFToken", "Token", "DPoP", "X-Session-Id", "X-User-Id", "X-Tenant", "On-Behalf-Of"])
  func `no request gets what was said to another`(field: String) async throws {
    try await withCache { engine, origin, _ in
      origin.fallback { .text("for \($0.header(field) ?? "nobody")").header("Cache-Control", "max-age=100") }
      for name in ["ann", "bob", "ann"] {
        let operation = engine.operation(path: "/").setHeader(field, name)
        #expect(await engine.end(of: operation).text == "for \(name)")
      }
      #expect(await engine.get("/").end().text == "for nobody")
      #expect(origin.requests.count == 3)
    }
  }

  @Test func `an empty name of a scope, or of a resource, is none`() async throws {
    try await withCache { engine, origin, _ in
      origin.fallback {
        .text("\($0.path) for \($0.header("Authorization") ?? "nobody")").header(
          "Cache-Control", "max-age=100")
      }
      for name in ["ann", "bob"] {
        for path in ["/a", "/b"] {
          let operation = engine.operation(path: path).setHeader("Authorization", name)
          operation.configure { ($0.credentialScope, $0.cacheKey) = ("", "") }
          #expect(await engine.end(of: operation).text == "\(path) for \(name)")
        }
      }
    }
  }

  @Test func `the caller says what is secret and what is not`() async throws {
    try await withCache(engine: {
      $0.secretFields = ["X-Request-Id"]
      $0.openFields = ["X-Sort-Key"]
    }) { engine, origin, _ in
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

  /// Signs in at `/as/NAME`, and answers with the name that the cookie says.
  private static func signIn(_ origin: ScriptedOrigin, varies: Bool = false) {
    for name in ["ann", "bob"] {
      origin.on("/as/\(name)", Answer.text("in").header("Set-Cookie", "who=\(name); Path=/"))
      origin.on("/over/\(name)", Answer.redirect(to: "/page").header("Set-Cookie", "who=\(name); Path=/"))
    }
    origin.on("/out", Answer.text("out").header("Set-Cookie", "who=; Path=/; Max-Age=0"))
    origin.fallback {
      let answer = Answer.text("for \($0.header("Cookie") ?? "nobody")").header(
        "Cache-Control", "max-age=100")
      return varies ? answer.header("Vary", "Cookie") : answer
    }
  }

  @Test(arguments: ["as", "over"], [false, true])
  func `a user who signs in gets nothing of the user who was there before`(way: String, varies: Bool)
    async throws
  {
    try await withCache(engine: { $0.cookies = .inMemory }) { engine, origin, _ in
      Self.signIn(origin, varies: varies)
      #expect(await engine.get("/page").end().text == "for nobody")
      for name in ["ann", "bob", "ann"] {
        _ = await engine.get("/\(way)/\(name)").end()
        #expect(await engine.get("/page").end().text == "for who=\(name)")
        let asked = origin.requests.count
        #expect(await engine.get("/page").end().text == "for who=\(name)")
        #expect(origin.requests.count == asked, "it is in the cache")
      }
      _ = await engine.get("/out").end()
      let asked = origin.requests.count
      #expect(await engine.get("/page").end().text == "for nobody")
      #expect(origin.requests.count == asked, "nobody's is still there")
      _ = await engine.get("/as/ann").end()
      engine.removeCookies()
      #expect(await engine.get("/page").end().text == "for nobody")
    }
  }

  @Test func `cookies of another host keep nothing apart`() async throws {
    try await withCache(engine: { $0.cookies = .inMemory }) { engine, origin, _ in
      Self.signIn(origin)
      #expect(await engine.get("/page").end().text == "for nobody")
      _ = await engine.end(of: engine.operation(url: origin.url("/as/ann", host: "localhost")))
      let asked = origin.requests.count
      #expect(await engine.get("/page").end().text == "for nobody")
      #expect(origin.requests.count == asked)
    }
  }

  @Test func `a user who signs in does not share what is under way for another`() async throws {
    try await withCache(engine: { $0.cookies = .inMemory }) { engine, origin, _ in
      Self.signIn(origin)
      _ = await engine.get("/as/ann").end()
      origin.hold("/page")
      let anns = engine.start("/page")
      #expect(await origin.waitForHits("/page", 1))
      _ = await engine.get("/as/bob").end()
      let bobs = engine.start("/page")
      #expect(await origin.waitForHits("/page", 2))
      origin.release("/page", count: 2)
      #expect(await anns.end().text == "for who=ann")
      #expect(await bobs.end().text == "for who=bob")
      // What was asked for with other cookies than it was looked up for is nobody's
      #expect(await engine.get("/page").end().text == "for who=bob")
    }
  }
}
