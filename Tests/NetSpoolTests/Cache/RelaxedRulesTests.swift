import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// The rules of MKNetworkKit: seven days for a picture, one for what has an ETag, a minute for `no-cache`.
struct RelaxedRulesTests {
  static let minute = 60.0
  static let day = 86_400.0

  struct Rule: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: [String]
    let lasts: Double
    var testDescription: String { name }
  }

  static let rules = [
    Rule(name: "a picture", fields: ["Content-Type: image/png"], lasts: 7 * day),
    Rule(name: "a picture with an ETag", fields: ["Content-Type: image/png", "ETag: \"a\""], lasts: day),
    Rule(name: "an ETag", fields: ["ETag: \"a\""], lasts: day),
    Rule(name: "an ETag before Expires", fields: ["ETag: \"a\"", "Expires: {100}"], lasts: day),
    Rule(name: "no-cache", fields: ["Cache-Control: no-cache"], lasts: minute),
    Rule(name: "no-cache with an ETag", fields: ["Cache-Control: no-cache", "ETag: \"a\""], lasts: minute),
    Rule(name: "max-age before an ETag", fields: ["Cache-Control: max-age=100", "ETag: \"a\""], lasts: 100),
    Rule(
      name: "max-age before a picture", fields: ["Content-Type: image/png", "Cache-Control: max-age=100"],
      lasts: 100),
    Rule(name: "max-age shorter than no-cache", fields: ["Cache-Control: no-cache, max-age=10"], lasts: 10),
    Rule(
      name: "a picture before Expires", fields: ["Content-Type: image/png", "Expires: {100}"], lasts: 7 * day),
    Rule(name: "an ETag before an Expires that is over", fields: ["ETag: \"a\"", "Expires: 0"], lasts: day),
    Rule(
      name: "a max-age that is none before a picture",
      fields: ["Content-Type: image/png", "Cache-Control: max-age=x"], lasts: 0),
    Rule(
      name: "no-cache in three words", fields: ["Cache-Control: no-cache", "Expires: 0", "Pragma: no-cache"],
      lasts: minute),
    Rule(name: "Expires alone", fields: ["Expires: {100}"], lasts: 100),
    Rule(name: "Last-Modified", fields: ["Last-Modified: {-100000}"], lasts: 0),
    Rule(name: "nothing", fields: [], lasts: 0),
  ]

  @Test(arguments: rules) func `each has its time`(_ rule: Rule) async throws {
    try await withCache(rules: .relaxed) { engine, origin, clock in
      let story = CacheStory(engine, origin, clock)
      var visits = [Visit(answer: rule.fields)]
      if rule.lasts > 0 { visits.append(Visit(after: rule.lasts - 2, sees: .cache)) }
      visits.append(Visit(after: rule.lasts > 0 ? 3 : 0))
      await story.play(CacheRow(rule.name, "MKNetworkKit", visits: visits), at: "/a")
    }
  }

  @Test func `no-store holds all the same`() async throws {
    try await withCache(rules: .relaxed) { engine, origin, clock in
      let story = CacheStory(engine, origin, clock)
      await story.play(.unstored("no-store", "", "Cache-Control: no-store", "ETag: \"a\""), at: "/a")
      await story.play(
        .fresh("Set-Cookie", "RFC 9111 7.3", "Content-Type: image/png", "Set-Cookie: a=b"), at: "/b")
      await story.play(
        CacheRow(
          "asked with the ETag", "", .asks("ETag: \"a\""),
          .confirms("ETag: \"a\"", after: Self.day + 1, sends: ["If-None-Match: \"a\""]), .hits(after: 1000)),
        at: "/c")
    }
  }

  @Test func `numbers of the caller's own`() async throws {
    var rules = NetSpool.CacheRules.standard
    rules.imageLifetime = .seconds(100)
    rules.validatedImageLifetime = .seconds(50)
    rules.lastModifiedPercent = 0
    rules.noCacheLifetime = .seconds(10)
    try await withCache(rules: rules) { engine, origin, clock in
      let story = CacheStory(engine, origin, clock)
      let rows: [CacheRow] = [
        .fresh("imageLifetime", "", "Content-Type: image/gif", for: 99),
        .stale("imageLifetime", "", "Content-Type: image/gif", after: 101),
        .fresh("validatedImageLifetime", "", "Content-Type: image/gif", "ETag: \"a\"", for: 49),
        .stale("validatedImageLifetime", "", "Content-Type: image/gif", "ETag: \"a\"", after: 51),
        .stale("lastModifiedPercent", "", "Last-Modified: {-100000}"),
        .fresh("noCacheSeconds", "", "Cache-Control: no-cache", for: 9),
        .stale("noCacheSeconds", "", "Cache-Control: no-cache", after: 11),
      ]
      for (index, row) in rows.enumerated() { await story.play(row, at: "/\(index)") }
    }
  }

  @Test func `without heuristics only what is said counts`() async throws {
    var rules = NetSpool.CacheRules.standard
    rules.usesHeuristics = false
    try await withCache(rules: rules) { engine, origin, clock in
      let story = CacheStory(engine, origin, clock)
      let rows: [CacheRow] = [
        .stale("an image", "RFC 9111 4.2.2", "Content-Type: image/gif"),
        .stale("Last-Modified", "RFC 9111 4.2.2", "Last-Modified: {-100000}"),
        .fresh("max-age", "RFC 9111 4.2.1", "Cache-Control: max-age=100"),
      ]
      for (index, row) in rows.enumerated() { await story.play(row, at: "/\(index)") }
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
}
