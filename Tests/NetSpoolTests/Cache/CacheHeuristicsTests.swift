import Testing

@testable import NetSpool

/// Lifetimes that no origin gave (RFC 9111 section 4.2.2), and the two sets of rules.
struct CacheHeuristicsTests {
  static let none = {
    var rules = CacheRules.standard
    rules.heuristics = .none
    return rules
  }()

  /// Fields, then the lifetime in seconds under `.standard`, `.relaxed` and without heuristics.
  static let lifetimes: [([String], Int64, Int64, Int64)] = [
    ([], 0, 0, 0),
    (["Content-Type: image/png"], 0, 7 * day, 0),
    (["Content-Type: IMAGE/PNG; x=y"], 0, 7 * day, 0),
    (["Content-Type: image/png", "ETag: \"a\""], 0, day, 0),
    (["Content-Type: image/png", "Last-Modified: \(date(-500 * day))"], day, day, 0),
    (["Content-Type: image/png", "Last-Modified: \(date(-1000))"], 100, day, 0),
    (["Content-Type: image/png", "Last-Modified: no date"], 0, 7 * day, 0),
    (["Content-Type: text/html", "ETag: \"a\""], 0, day, 0),
    (["Last-Modified: \(date(-1000))"], 100, 0, 0),
    (["Last-Modified: \(date(-20 * day))"], day, 0, 0),
    (["Last-Modified: \(date(1000))"], 0, 0, 0),
    (["Last-Modified: \(date(-1000))", "ETag: \"a\""], 100, day, 0),
    (["Content-Type: image/png", "Expires: \(date(60))"], 60, 7 * day, 60),
    (["ETag: \"a\"", "Expires: \(date(60))"], 60, day, 60),
    (["ETag: \"a\"", "Expires: 0"], 0, day, 0),
    (["Last-Modified: \(date(-1000))", "Expires: \(date(60))"], 60, 60, 60),
    (["Content-Type: image/png", "ETag: \"a\"", "Cache-Control: max-age=5"], 5, 5, 5),
    (["Content-Type: image/png", "Cache-Control: max-age=x"], 0, 0, 0),
    (["Cache-Control: no-cache"], 0, 60, 0),
    (["Content-Type: image/png", "ETag: \"a\"", "Cache-Control: no-cache"], 0, 60, 0),
    (["Cache-Control: no-cache, max-age=3600"], 0, 60, 0),
    (["Cache-Control: no-cache, max-age=5"], 0, 5, 0),
    (["Cache-Control: no-cache", "Expires: 0", "Pragma: no-cache"], 0, 60, 0),
    (["Cache-Control: private", "Content-Type: image/gif"], 0, 7 * day, 0),
  ]

  @Test(arguments: lifetimes)
  func `lifetime under each rule`(_ lines: [String], standard: Int64, relaxed: Int64, off: Int64) {
    let all = lines + ["Date: \(date())"]
    #expect(stored(all)?.facts.lifetime == standard)
    #expect(stored(all, rules: .relaxed)?.facts.lifetime == relaxed)
    #expect(stored(all, rules: Self.none)?.facts.lifetime == off)
  }

  /// The three holding times to the millisecond, by the clock.
  @Test func `holds exactly so long`() throws {
    let cases: [([String], CacheRules, Int64)] = [
      (["Cache-Control: no-cache", "ETag: \"a\""], .relaxed, 60), (["ETag: \"a\""], .relaxed, day),
      (["Content-Type: image/png"], .relaxed, 7 * day),
      (["Content-Type: image/png", "ETag: \"a\""], .relaxed, day),
    ]
    for (lines, rules, seconds) in cases {
      let held = try #require(stored(lines + ["Date: \(date())"], rules: rules))
      #expect(decision(held, after: Double(seconds) - 0.001) == .serve)
      #expect(decision(held, after: Double(seconds)) != .serve)
    }
  }

  /// Relaxed: Last-Modified makes each request conditional; `no-cache` is never used past its 60 seconds.
  @Test func `relaxed asks with the date`() throws {
    let held = try #require(stored(["Last-Modified: \(date(-9 * day))", "Date: \(date())"], rules: .relaxed))
    #expect(
      CacheDecision.make(for: request(), stored: held, now: receipt)
        == .revalidate(conditions: fields("If-Modified-Since: \(date(-9 * day))")))
    let uncached = try #require(stored(["Cache-Control: no-cache"], rules: .relaxed))
    #expect(!uncached.mayServeStale(after: .network, to: request(), now: receipt + 61_000))
    #expect(uncached.mayServeStale(after: .network, to: request(), now: receipt + 59_000))
  }

  /// RFC 9110 section 15.1; RFC 9111 section 5.2.2.9 for `public`.
  @Test(arguments: [
    (200, true), (203, true), (204, true), (300, true), (301, true), (308, true), (404, true), (405, true),
    (410, true), (414, true), (501, true), (201, false), (202, false), (302, false), (307, false),
    (403, false),
    (500, false), (502, false), (503, false), (504, false), (599, false),
  ])
  func `status allows guessing`(_ status: Int, allowed: Bool) {
    let lines = ["Last-Modified: \(date(-day))", "Date: \(date())"]
    #expect(stored(lines, status: status)?.isFresh(at: receipt) ?? false == allowed)
    #expect(stored(lines + ["Cache-Control: public"], status: status)?.isFresh(at: receipt) == true)
  }

  @Test func `an error is not an image`() {
    #expect(stored(["Content-Type: image/gif", "Date: \(date())"], status: 404)?.facts.lifetime == 0)
  }

  @Test func `own numbers count`() {
    var rules = CacheRules.standard
    rules.heuristics.imageSeconds = 10
    rules.noCacheSeconds = 3
    #expect(stored(["Content-Type: image/png"], rules: rules)?.facts.lifetime == 10)
    #expect(stored(["Cache-Control: no-cache"], rules: rules)?.facts.lifetime == 3)
    rules.heuristics.lastModifiedPercent = .max
    #expect(
      stored(["Last-Modified: \(date(-9))", "Date: \(date())"], rules: rules)?.facts.lifetime == 86_400)
  }
}
