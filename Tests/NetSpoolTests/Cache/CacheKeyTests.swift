import NetSpool
import NetSpoolTesting
import Testing

/// Which URLs name the same resource (RFC 3986 section 6.2), seen at the engine.
struct CacheKeyTests {
  /// `{}` stands for the origin's port.
  static let equal: [(String, String)] = [
    ("http://127.0.0.1:{}/a", "HTTP://127.0.0.1:{}/a"), ("http://localhost:{}/a", "http://LOCALHOST:{}/a"),
    ("http://127.0.0.1:{}", "http://127.0.0.1:{}/"), ("http://127.0.0.1:{}/a", "http://127.0.0.1:{}/a#part"),
    ("http://127.0.0.1:{}/%7Ea", "http://127.0.0.1:{}/~a"),
    ("http://127.0.0.1:{}/%2fa", "http://127.0.0.1:{}/%2Fa"),
    ("http://127.0.0.1:{}/a/./b", "http://127.0.0.1:{}/a/b"),
    ("http://127.0.0.1:{}/a/../b", "http://127.0.0.1:{}/b"),
    ("http://127.0.0.1:{}/%61", "http://127.0.0.1:{}/a"),
    ("http://127.0.0.1:{}/a b", "http://127.0.0.1:{}/a%20b"),
    ("http://127.0.0.1:{}/a?x=%7e", "http://127.0.0.1:{}/a?x=~"),
  ]

  static let unequal: [(String, String)] = [
    ("http://127.0.0.1:{}/a", "http://localhost:{}/a"), ("http://127.0.0.1:{}/a", "http://127.0.0.1:{}/A"),
    ("http://127.0.0.1:{}/a", "http://127.0.0.1:{}/a/"), ("http://127.0.0.1:{}/a", "http://127.0.0.1:{}/a?"),
    ("http://127.0.0.1:{}/a/b", "http://127.0.0.1:{}/a//b"),
    ("http://127.0.0.1:{}/a/b", "http://127.0.0.1:{}/a%2Fb"),
    ("http://127.0.0.1:{}/a?b&c", "http://127.0.0.1:{}/a?c&b"),
    ("http://127.0.0.1:{}/a?b", "http://127.0.0.1:{}/a?b="),
    ("http://127.0.0.1:{}/a?b", "http://127.0.0.1:{}/a%3Fb"),
    ("http://127.0.0.1:{}/a", "http://u:p@127.0.0.1:{}/a"),
    ("http://u:p@127.0.0.1:{}/a", "http://u:q@127.0.0.1:{}/a"),
    ("http://127.0.0.1:{}/a+b", "http://127.0.0.1:{}/a%20b"),
  ]

  @Test(arguments: equal) func `a single resource`(_ pair: (String, String)) async throws {
    try await check(pair, isSame: true)
  }

  @Test(arguments: unequal) func `two resources`(_ pair: (String, String)) async throws {
    try await check(pair, isSame: false)
  }

  private func check(_ pair: (String, String), isSame: Bool) async throws {
    for (first, second) in [pair, (pair.1, pair.0)] {
      try await withCache { engine, origin, _ in
        origin.fallback(.text("a").header("Cache-Control", "max-age=100"))
        for (url, source) in [(first, NetworkResponse.Source.network), (second, isSame ? .cache : .network)] {
          let operation = engine.operation(url: url.replacing("{}", with: "\(origin.port)"))
          #expect(await engine.end(of: operation).response?.source == source, "\(url)")
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

  @Test(arguments: [301, 302, 303, 307, 308]) func `a redirect takes away what a POST went to`(status: Int)
    async throws
  {
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
