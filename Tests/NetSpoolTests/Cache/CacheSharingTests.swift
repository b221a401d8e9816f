import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Several engines, one store or several.
struct CacheSharingTests {
  @Test func `engines that name one directory share what is held`() async throws {
    try await withTwo { first, second, origin in
      _ = await first.fetch("/a")
      #expect(await second.fetch("/a").response?.source == .cache)
      second.removeCached(url: origin.url("/a"))
      #expect(await first.isMissing("/a"))
      _ = await second.fetch("/b")
      first.emptyCache()
      #expect(await second.isMissing("/b"))
      #expect(first.cacheStatistics?.bytesMax == second.cacheStatistics?.bytesMax)
    }
  }

  @Test func `namespaces do not share, nor empty each other`() async throws {
    try await withTwo {
      $0.namespace = "thumbnails"
    } body: { first, second, origin in
      _ = await first.fetch("/a")
      #expect(await second.isMissing("/a"))
      origin.on("/a", .text("second").header("Cache-Control", "max-age=1000"))
      _ = await second.fetch("/a")
      #expect(await first.fetch("/a").text == "both")
      second.removeCached(url: origin.url("/a"))
      #expect(!(await first.isMissing("/a")))
      _ = await second.fetch("/a")
      first.removeCached(prefix: origin.url("/"))
      #expect(await first.isMissing("/a"))
      #expect(await second.fetch("/a").text == "second")
      _ = await first.fetch("/b")
      second.emptyCache()
      #expect(await second.isMissing("/a"))
      #expect(await first.fetch("/b").text == "both")
      first.emptyCache()
      #expect(await first.isMissing("/b"))
    }
  }

  @Test func `other directories, other stores`() async throws {
    let folder = try TestFolder()
    try await withTwo {
      $0.directory = folder.path
    } body: { first, second, origin in
      _ = await first.fetch("/a")
      #expect(await second.isMissing("/a"))
    }
  }

  @Test func `a URL is removed in every named scope, also those of an earlier engine`() async throws {
    try await withTwo { first, second, origin in
      for path in ["/a", "/b"] {
        _ = await first.end(of: first.operation(path: path).configure { $0.credentialScope = "ann" })
        if path == "/a" {
          second.removeCached(url: origin.url(path))
        } else {
          second.removeCached(prefix: origin.url("/"))
        }
        let again = first.operation(path: path).configure {
          ($0.credentialScope, $0.cachePolicy) = ("ann", .onlyIfCached)
        }
        #expect(await first.end(of: again).code == .notCached, "\(path)")
      }
    }
  }

  @Test func `what is held is judged by the rules of who asks`() async throws {
    try await withCache { strict, origin, clock in
      let relaxed = try NetworkEngine(to: origin, on: strict.configuration.queue)
      var settings = strict.sharedCache
      settings.rules = .relaxed
      try relaxed.useCache(settings, now: { clock.now })
      origin.on("/a", .text("a").header("ETag", "\"a\""))
      _ = await strict.fetch("/a")
      clock.advance(seconds: 1000)
      #expect(await relaxed.fetch("/a").response?.source == .cache)
      origin.on("/a", .status(304))
      #expect(await strict.fetch("/a").response?.source == .revalidated)
    }
  }

  private func withTwo(
    _ second: (inout CacheConfiguration) -> Void = { _ in },
    body: (NetworkEngine, NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withCache { engine, origin, clock in
      origin.fallback(cacheable("both"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      var settings = engine.sharedCache
      second(&settings)
      try other.useCache(settings, now: { clock.now })
      try await body(engine, other, origin)
    }
  }
}
