import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Answers of one resource that vary, and one that does not say so (RFC 9111 section 4.1).
struct CacheVariantsTests {
  private static func answer(_ request: RecordedRequest) -> Answer {
    let language = request.header("Accept-Language")
    let answer = Answer.text(language ?? "default").header("Cache-Control", "max-age=1000")
    return language == nil ? answer : answer.header("Vary", "Accept-Language")
  }

  private func expectStored(
    _ engine: NetworkEngine, _ language: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    var headers = NetworkRequest.Headers()
    if let language { headers.add("Accept-Language", language) }
    let answer = await engine.fetch("/a", .onlyIfCached, headers: headers)
    #expect(answer.text == language ?? "default", "\(answer)", sourceLocation: sourceLocation)
  }

  @Test func `a default answer leaves the variants that were stored before it`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a") { Self.answer($0) }
      for language in ["de", "en"] {
        _ = await engine.fetch("/a", headers: ["Accept-Language": language])
        clock.advance(seconds: 1)
      }
      _ = await engine.fetch("/a", .reload)
      await expectStored(engine, nil)
      clock.advance(seconds: 1)
      // The default is the youngest and fits all. A variant that comes anew is younger, and the other one is
      // there still.
      _ = await engine.fetch("/a", .reload, headers: ["Accept-Language": "de"])
      await expectStored(engine, "de")
      await expectStored(engine, nil)
      // The index, two variants and the default.
      engine.flushCache()
      #expect(engine.cacheStatistics?.entries == 4)
    }
  }

  @Test func `a variant leaves the default answer that was stored before it`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a") { Self.answer($0) }
      _ = await engine.fetch("/a")
      clock.advance(seconds: 1)
      _ = await engine.fetch("/a", .reload, headers: ["Accept-Language": "de"])
      await expectStored(engine, "de")
      await expectStored(engine, nil)
      // Fits a request that no variant fits, too.
      #expect(await engine.fetch("/a", .onlyIfCached, headers: ["Accept-Language": "fr"]).text == "default")
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [true, false])
  func `a default answer never hides a younger variant from requests with nothing but the URL`(
    isDefaultFirst: Bool
  ) async throws {
    try await withCache { engine, origin, clock in
      // Chosen by a field that is absent: this variant fits those who send none.
      origin.on("/a", .text("variant").header("Cache-Control", "max-age=1000").header("Vary", "X-Kind"))
      if !isDefaultFirst { _ = await engine.fetch("/a") }
      origin.on("/a", .text("default").header("Cache-Control", "max-age=1000"))
      clock.advance(seconds: 1)
      for _ in 0..<3 { _ = await engine.fetch("/a", .reload) }
      for _ in 0..<3 { #expect(await engine.fetch("/a").text == "default") }
      clock.advance(seconds: 1)
      origin.on("/a", .text("variant").header("Cache-Control", "max-age=1000").header("Vary", "X-Kind"))
      _ = await engine.fetch("/a", .reload)
      for _ in 0..<3 { #expect(await engine.fetch("/a").text == "variant") }
    }
  }
}
