import Testing

@testable import NetSpool

/// Lifetimes that no origin gave (RFC 9111 section 4.2.2), and the two sets of rules.
struct CacheHeuristicsTests {
  static let none = {
    var rules = CacheRules.standard
    rules.heuristics = .none
    return rules
  }()

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

  @Test func `a share of its age that passes all numbers is as long as may be`() {
    var rules = CacheRules.standard
    rules.heuristics.lastModifiedPercent = .max
    #expect(
      stored(["Last-Modified: \(date(-9))", "Date: \(date())"], rules: rules)?.facts.lifetime == 86_400)
  }
}
