import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// One call turns the cache on.
struct CachingTests {
  @Test func `what is fresh is served without the network`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", .text("hello").header("Cache-Control", "max-age=60"))
      let first = await engine.fetch("/a")
      #expect(first.response?.source == .network)
      let second = await engine.fetch("/a")
      #expect(second.text == "hello")
      #expect(second.response?.source == .cache)
      #expect(origin.requests.count == 1)
      clock.advance(seconds: 61)
      let third = await engine.fetch("/a")
      #expect(third.response?.source == .network)
      #expect(origin.requests.count == 2)
    }
  }

  @Test func `a 304 brings the stored body, and freshness for the next`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a") { request in
        request.header("If-None-Match") == "\"v1\""
          ? .status(304).header("ETag", "\"v1\"").header("Cache-Control", "max-age=60")
          : .text("hello").header("ETag", "\"v1\"").header("Cache-Control", "max-age=60")
      }
      _ = await engine.fetch("/a")
      clock.advance(seconds: 61)
      let second = await engine.fetch("/a")
      #expect(second.text == "hello")
      #expect(second.response?.source == .revalidated)
      // The time is that of the exchange, which brought no body.
      let metrics = try #require(second.response?.metrics)
      #expect(metrics.total > .zero && metrics.bytesReceived == 0)
      #expect(await engine.fetch("/a").response?.source == .cache)
      #expect(origin.requests.count == 2)
    }
  }

  @Test func `cached then fresh calls the completion twice`() async throws {
    try await withCache(policy: .cachedThenFresh) { engine, origin, clock in
      origin.on("/a", .text("old").header("Cache-Control", "max-age=1"))
      _ = await engine.fetch("/a")
      clock.advance(seconds: 5)
      origin.on("/a", .text("new").header("Cache-Control", "max-age=1"))
      let seen = Journal<String>()
      let operation = engine.operation(path: "/a").onCompletion {
        seen.add("\($0.text ?? "") \($0.source) \($0.isFinal)")
      }
      let result: NetworkResponse = try await engine.response(for: operation)
      #expect(result.text == "new")
      #expect(seen.entries == ["old cache false", "new network true"])
    }
  }

  @Test func `streams get the stored body`() async throws {
    try await withCache { engine, origin, _ in
      let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      origin.on("/a", .bytes(bytes).header("Cache-Control", "max-age=60"))
      for source in [NetworkResponse.Source.network, .cache] {
        let stream = MemoryDownloadStream()
        let response = await engine.end(of: engine.operation(path: "/a").addDownloadStream(stream)).response
        #expect(response?.source == source)
        #expect(stream.bytes == bytes)
      }
      #expect(origin.requests.count == 1)
    }
  }
}
