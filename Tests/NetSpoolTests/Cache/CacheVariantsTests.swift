import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Answers of one resource that vary, and one that does not say so (RFC 9111 section 4.1).
struct CacheVariantsTests {
  @Test func `a default answer leaves the variants that were stored before it`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a") { request in
        let language = request.header("Accept-Language")
        let answer = cacheable(language ?? "default")
        return language == nil ? answer : answer.header("Vary", "Accept-Language")
      }
      let german: NetworkRequest.Headers = ["Accept-Language": "de"]
      for fields in [german, ["Accept-Language": "en"]] {
        _ = await engine.fetch("/a", headers: fields)
        clock.advance(seconds: 1)
      }
      _ = await engine.fetch("/a", .reload)
      #expect(await engine.fetch("/a", .onlyIfCached).text == "default")
      clock.advance(seconds: 1)
      // The default is the youngest and fits all. A variant that comes anew is younger, and the other one is
      // there still.
      _ = await engine.fetch("/a", .reload, headers: german)
      #expect(await engine.fetch("/a", .onlyIfCached, headers: german).text == "de")
      #expect(await engine.fetch("/a", .onlyIfCached).text == "default")
      // The index, two variants and the default.
      engine.flushCache()
      #expect(engine.cacheStatistics?.entries == 4)
    }
  }
}
