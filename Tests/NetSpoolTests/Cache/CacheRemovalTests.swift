import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What is removed is gone when the call returns, and nothing else is.
struct CacheRemovalTests {
  @Test func `a URL, in every spelling and with all its variants`() async throws {
    try await withFull { engine, origin in
      for language in ["de", "en"] { _ = await engine.fetch("/vary", headers: ["Accept-Language": language]) }
      let ways: [NetworkRequest.Headers] = [[:], ["Authorization": "Bearer 1"], ["X-Forwarded-Host": "x"]]
      for fields in ways { _ = await engine.fetch("/a", headers: fields) }
      engine.removeCached(url: origin.url("/x/../%61#part"))
      engine.removeCached(url: origin.url("/vary"))
      for fields in ways { #expect(await engine.isMissing("/a", fields)) }
      for language in ["de", "en"] { #expect(await engine.isMissing("/vary", ["Accept-Language": language])) }
      for path in ["/a?q", "/b", "/folder/a"] { #expect(!(await engine.isMissing(path)), "\(path)") }
      engine.removeCached(url: "no URL")
    }
  }

  @Test(arguments: [(.get, 404), (.get, 410), (.head, 404)] as [(NetworkRequest.Method, Int)])
  func `what was made of an answer, with it, where the origin has nothing left`(
    _ method: NetworkRequest.Method, _ status: Int
  ) async throws {
    try await withCache { engine, origin, _ in
      func small() -> [UInt8]? {
        engine.derived("small", of: engine.operation(path: "/a")).map { [UInt8]($0.body) }
      }
      origin.on("/a", .text("picture").header("Cache-Control", "max-age=1000"))
      let answer = try #require(await engine.fetch("/a").response)
      engine.keep(
        derived: "small", [1, 2], type: "image/png", of: answer,
        toSent: engine.operation(path: "/a").request)
      #expect(small() == [1, 2])
      origin.on("/a", .status(status).header("Cache-Control", "no-store"))
      let again = engine.operation(path: "/a", method: method)
      again.cachePolicy = .reload
      #expect(await engine.end(of: again).error?.response?.status == status)
      #expect(small() == nil)
    }
  }

  @Test func `a prefix`() async throws {
    try await withFull { engine, origin in
      _ = await engine.fetch("/folder/a", headers: ["Authorization": "Bearer 1"])
      engine.removeCached(prefix: origin.url("/folder/"))
      #expect(await engine.isMissing("/folder/a"))
      #expect(await engine.isMissing("/folder/a", ["Authorization": "Bearer 1"]))
      #expect(await engine.isMissing("/folder/b"))
      for path in ["/a", "/b", "/folder"] { #expect(!(await engine.isMissing(path)), "\(path)") }
      engine.removeCached(prefix: "")
      for path in ["/a", "/b", "/folder"] { #expect(await engine.isMissing(path)) }
    }
  }

  @Test func `inside a completion, on the loop thread as well`() async throws {
    for delivery in [NetworkEngine.Delivery.serialQueue, .loopThread] {
      try await withCache(engine: { $0.delivery = delivery }) { engine, origin, _ in
        origin.on("/a", .text("a").header("Cache-Control", "max-age=1000"))
        let url = origin.url("/a")
        let operation = engine.operation(path: "/a").onCompletion { _ in engine.removeCached(url: url) }
        #expect(await engine.end(of: operation).text == "a")
        #expect(await engine.isMissing("/a"))
        _ = await engine.fetch("/a")
        let emptying = engine.operation(path: "/a").onCompletion { _ in engine.emptyCache() }
        #expect(await engine.end(of: emptying).response?.source == .cache)
        #expect(await engine.isMissing("/a"))
      }
    }
  }

  @Test(arguments: 0..<3) func `what is under way when it is removed is not stored`(way: Int) async throws {
    try await withFull { engine, origin in
      let operation = await engine.held("/new", at: origin)
      switch way {
      case 0: engine.removeCached(url: origin.url("/new"))
      case 1: engine.removeCached(prefix: origin.url("/n"))
      default:
        engine.emptyCache()
        for path in Self.paths { #expect(await engine.isMissing(path)) }
      }
      #expect(await engine.isMissing("/new"))
      // Who comes now does not get what was asked for before.
      let later = engine.start("/new")
      #expect(await origin.waitForWaiting("/new", 2))
      origin.release("/new")
      #expect(await operation.end().text == "content")
      #expect(await later.end().text == "content")
      #expect(origin.hits("/new") == 2)
      #expect(await engine.fetch("/new").response?.source == .cache)
    }
  }

  private static let paths = ["/a", "/a?q", "/b", "/folder", "/folder/a", "/folder/b"]

  private func withFull(_ body: (NetworkEngine, ScriptedOrigin) async throws -> Void) async throws {
    try await withCache { engine, origin, _ in
      origin.fallback(cacheable("content"))
      origin.on("/vary", cacheable("v").header("Vary", "Accept-Language"))
      for path in Self.paths { _ = await engine.fetch(path) }
      try await body(engine, origin)
    }
  }
}
