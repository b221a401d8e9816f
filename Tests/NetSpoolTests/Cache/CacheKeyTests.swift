import NetSpool
import NetSpoolTesting
import Testing

/// Which URLs name the same resource (RFC 3986 section 6.2), seen at the engine.
struct CacheKeyTests {
  /// `{}` stands for the origin's port. The spellings of paths are in `CacheKeyEncodingTests`.
  private static let pairs: [(String, String, isSame: Bool)] = [
    ("http://127.0.0.1:{}/a", "HTTP://127.0.0.1:{}/a", true),
    ("http://localhost:{}/a", "http://LOCALHOST:{}/a", true),
    ("http://127.0.0.1:{}", "http://127.0.0.1:{}/", true),
    ("http://127.0.0.1:{}/a", "http://127.0.0.1:{}/a#part", true),
    ("http://127.0.0.1:{}/a b", "http://127.0.0.1:{}/a%20b", true),
    ("http://127.0.0.1:{}/%61/./b", "http://127.0.0.1:{}/a/b", true),
    ("http://127.0.0.1:{}/a", "http://localhost:{}/a", false),
    ("http://127.0.0.1:{}/a?b&c", "http://127.0.0.1:{}/a?c&b", false),
    ("http://127.0.0.1:{}/a", "http://u:p@127.0.0.1:{}/a", false),
    ("http://u:p@127.0.0.1:{}/a", "http://u:q@127.0.0.1:{}/a", false),
  ]

  @Test func `two spellings of a URL are a single resource or two`() async throws {
    try await withCache { engine, origin, _ in
      origin.fallback(.text("a").header("Cache-Control", "max-age=100"))
      for (one, two, isSame) in Self.pairs {
        for (first, second) in [(one, two), (two, one)] {
          engine.emptyCache()
          for (url, source) in [
            (first, NetworkResponse.Source.network), (second, isSame ? .cache : .network),
          ] {
            let operation = engine.operation(url: url.replacing("{}", with: "\(origin.port)"))
            #expect(await engine.end(of: operation).response?.source == source, "\(url)")
          }
        }
      }
    }
  }

  @Test func `the final URL is that of what was held`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .redirect(to: "/b"))
      origin.on("/b", .text("b").header("Cache-Control", "max-age=100"))
      for source in [NetworkResponse.Source.network, .cache] {
        let response = try #require(await engine.fetch("/a").response)
        #expect(response.source == source && response.finalURL == origin.url("/b"))
        #expect(response.metrics.redirects == 1)
      }
      #expect(origin.hits("/a") == 2 && origin.hits("/b") == 1)
    }
  }

  @Test func `what answers a form is fetched anew`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/list", .text("old").header("Cache-Control", "max-age=100"))
      origin.on("/other", .text("other").header("Cache-Control", "max-age=100"))
      for path in ["/list", "/other", "/add"] { _ = await engine.fetch(path) }
      origin.on("/add", .redirect(to: "/list", status: 303))
      origin.on("/list", .text("new").header("Cache-Control", "max-age=100"))
      let post = await engine.end(of: engine.operation(path: "/add", method: .post, parameters: ["a": "b"]))
      #expect(post.text == "new" && post.response?.source == .network)
      #expect(await engine.fetch("/list").text == "new")
      #expect(await engine.fetch("/other").response?.source == .cache)
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect takes away what a POST went to`(status: Int) async throws {
    try await withCache { engine, origin, _ in
      origin.on("/form", .text("old").header("Cache-Control", "max-age=100"))
      _ = await engine.fetch("/form")
      origin.on("/form", .redirect(to: "/done", status: status))
      origin.on("/done", .text("done"))
      _ = await engine.end(of: engine.operation(path: "/form", method: .post))
      #expect(await engine.fetch("/form", .onlyIfCached).code == .notCached)
    }
  }
}
