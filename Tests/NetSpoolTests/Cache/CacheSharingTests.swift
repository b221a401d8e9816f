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

  @Test func `what one wrote the next finds, with what it was called`() async throws {
    let folder = try TestFolder()
    let settings = CacheConfiguration.patient(folder.path)
    let origin = try ScriptedOrigin()
    origin.on("/a", .text("kept").header("Cache-Control", "max-age=1000").header("X-A", "1"))
    for source in [NetworkResponse.Source.network, .cache] {
      try await withQueue { [settings] queue in
        let engine = try NetworkEngine(to: origin, on: queue)
        try engine.useCache(settings)
        let response = try #require(await engine.fetch("/a").response)
        #expect(response.source == source && response.text == "kept" && response.headers["X-A"] == "1")
      }
    }
    #expect(origin.requestCount == 1)
    _ = folder
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

  private func withTwo(
    _ second: (inout CacheConfiguration) -> Void = { _ in },
    body: (NetworkEngine, NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    let folder = try TestFolder()
    let settings = CacheConfiguration.patient(folder.path)
    var others = settings
    second(&others)
    try await withEngine { [settings, others] engine, origin in
      origin.fallback(.text("both").header("Cache-Control", "max-age=1000"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      try engine.useCache(settings)
      try other.useCache(others)
      try await body(engine, other, origin)
    }
    _ = folder
  }
}
