import Testing

@testable import NetSpool

/// Every policy with every state of what is held (RFC 9111 sections 4.2.4 and 5.2, RFC 5861).
struct CacheDecisionTests {
  /// `no-cache` of the answer is as good as stale at once; that of the request forbids all that is held.
  @Test(arguments: CachePolicy.allCases)
  func `no-cache is never served`(_ policy: CachePolicy) throws {
    let answer = try #require(stored(["Cache-Control: no-cache, max-age=60", "ETag: \"a\""]))
    let fresh = try #require(stored(["Cache-Control: max-age=60", "ETag: \"a\""]))
    for (held, asked) in [
      (answer, request(policy: policy)), (fresh, request(["Cache-Control: no-cache"], policy: policy)),
    ] {
      let verdict = decision(held, asked, after: 0)
      #expect(verdict != .serve && verdict != .serveAndRevalidate)
    }
  }

  /// RFC 5861 section 3: within the window the answer serves while it is renewed.
  @Test func `stale-while-revalidate has a window`() throws {
    let held = try #require(stored(["Cache-Control: max-age=10, stale-while-revalidate=5", "ETag: \"a\""]))
    #expect(decision(held, after: 9.999) == .serve)
    #expect(
      decision(held, after: 10) == .serveAndRevalidate && decision(held, after: 15) == .serveAndRevalidate)
    #expect(decision(held, after: 15.001) == .revalidate)
    #expect(decision(held, request(["Cache-Control: max-age=5"]), after: 12) == .revalidate)
    #expect(decision(held, request(["Cache-Control: only-if-cached"]), after: 12) == .notCached)
    for bad in [
      "stale-while-revalidate", "stale-while-revalidate=x", "stale-while-revalidate=5, must-revalidate",
    ] {
      let other = try #require(stored(["Cache-Control: max-age=10, \(bad)", "ETag: \"a\""]))
      #expect(decision(other, after: 12) == .revalidate)
    }
  }

  /// A lifetime of the caller's own replaces what the answer says, until it has run out.
  @Test(arguments: ["max-age=1", "no-cache", "max-age=0, must-revalidate", "max-age=1000"])
  func `an own lifetime overrides`(_ value: String) throws {
    let held = try #require(
      stored(["Cache-Control: \(value)", "Age: 900", "ETag: \"a\"", "Date: \(date())"]))
    #expect(decision(held, request(lifetime: 60), after: 59.999) == .serve)
    #expect(decision(held, request(lifetime: 60), after: 60) == .revalidate)
    #expect(decision(held, request(["Cache-Control: no-cache"], lifetime: 60), after: 1) == .revalidate)
    for none in [0, -5, Double.nan, -Double.infinity] {
      #expect(decision(held, request(lifetime: none), after: 0) == .revalidate)
    }
    #expect(decision(held, request(lifetime: .infinity), after: 1e9) == .serve)
  }
}
