import Testing

@testable import NetSpool

/// Age, Expires and freshness (RFC 9111 sections 4.2, 5.1 and 5.3).
struct CacheFreshnessTests {
  /// Fields of an answer, and whether it is fresh three seconds after it came.
  static let answers: [([String], Bool)] = [
    ([], false),
    (["Date: \(date())", "Cache-Control: max-age=3600"], true),
    (["Date: \(date(-7200))", "Cache-Control: max-age=3600"], false),  // apparent_age, 4.2.3
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 7200"], false),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 3598"], false),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 3596"], true),
    // Age (5.1): the first member counts, what is no number is ignored.
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: abc"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 7200.0"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age:"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 7200, 0"], false),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 0 , 7200"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 7200", "Age: 0"], false),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 0", "Age: 7200"], true),
    (["Date: \(date())", "Cache-Control: max-age=10000", "Age: 3600", "Age: 3600"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: 2147483648"], false),
    (["Date: \(date())", "Cache-Control: max-age=99999999999", "Age: 99999999999999999999"], false),
    (["Date: \(date())", "Cache-Control: max-age=99999999999999999999"], true),  // very long, 1.2.2
    (["Date: \(date())", "Cache-Control: max-age=3600", "Age: -7200"], true),  // invalid, so ignored
    // Date ahead: apparent_age is not negative, 4.2.3.
    (["Date: \(date(299))", "Cache-Control: max-age=3600"], true),
    (["Date: \(date(3601))", "Cache-Control: max-age=36000"], true),
    (["Date: \(date(3601))", "Cache-Control: max-age=36000", "Age: 36000"], false),
    (["Date: Fri, 31 Dec 9999 23:59:59 GMT", "Cache-Control: max-age=36000"], true),
    // Expires minus Date (4.2.1).
    (["Date: \(date())", "Expires: \(date(30 * day))"], true),
    (["Date: \(date())", "Expires: \(date(-30 * day))"], false),
    (["Date: \(date())", "Expires: \(date())"], false),
    (["Date: \(date(100))", "Expires: \(date(50))"], false),
    (["Date: \(date(-10))", "Expires: \(date(10))", "Age: 25"], false),
    (["Date: \(date(10))", "Expires: \(date(20))", "Age: 15"], false),
    (["Date: foo", "Expires: \(date(10))"], true),
    (["Expires: \(date(10))"], true),
    (["Date: \(date())", "Expires: Thu, 18 Aug 2050 02:01:18 GMT"], true),
    (["Date: \(date())", "Expires: THU, 18 AUG 2050 02:01:18 gMT"], true),
    (["Date: \(date())", "Expires: Thursday, 18-Aug-50 02:01:18 GMT"], true),
    (["Date: \(date())", "Expires: Thu Aug 18 02:01:18 2050"], true),
    (["Date: \(date())", "Expires: 0"], false), (["Date: \(date())", "Expires: -1"], false),
    (["Date: \(date())", "Expires:"], false), (["Date: \(date())", "Expires: 3600"], false),
    (["Date: \(date())", "Expires: Thu, 18 Aug 2050 02:01:18 UTC"], false),
    (["Date: \(date())", "Expires: Thu, 18 Aug 50 02:01:18 GMT"], false),
    (["Date: \(date())", "Expires: Thu 18 Aug 2050 02:01:18 GMT"], false),
    (["Date: \(date())", "Expires: Thu, 18  Aug  2050 02:01:18 GMT"], false),
    (["Date: \(date())", "Expires: Thu, 18-Aug-2050 02:01:18 GMT"], false),
    (["Date: \(date())", "Expires: Thu, 18 Aug 2050 02.01.18 GMT"], false),
    (["Date: \(date())", "Expires: Thu, 18 Aug 2050 2:01:18 GMT"], false),
    (["Date: \(date())", "Expires: \(date(60))", "Expires: \(date(60))"], true),
    (["Date: \(date())", "Expires: \(date(60))", "Expires: \(date(90))"], false),
    // Cache-Control wins over Expires (5.3).
    (["Date: \(date())", "Cache-Control: max-age=3600", "Expires: \(date(-7200))"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Expires: 0"], true),
    (["Date: \(date())", "Cache-Control: max-age=0", "Expires: \(date(3600))"], false),
    (["Date: \(date())", "Cache-Control: max-age=x", "Expires: \(date(3600))"], false),
    (["Date: \(date())", "Cache-Control: public", "Expires: \(date(3600))"], true),
    (["Date: \(date())", "Cache-Control: max-age=3600", "Pragma: no-cache"], true),  // no response field
  ]

  @Test(arguments: answers)
  func `is fresh`(_ lines: [String], expected: Bool) throws {
    let held = try #require(stored(lines))
    #expect(held.isFresh(at: receipt + 3000) == expected)
    #expect(decision(held, after: 3) == (expected ? .serve : .fetch))
  }

  /// 4.2.3: the time the answer was under way counts, residence counts, to the millisecond.
  @Test func `age is counted`() throws {
    let held = try #require(stored(["Date: \(date())", "Cache-Control: max-age=60", "Age: 30"], delay: 2500))
    #expect(
      held.age(at: receipt) == 32 && held.age(at: receipt + 499) == 32 && held.age(at: receipt + 500) == 33)
    #expect(held.isFresh(at: receipt + 27_499) && !held.isFresh(at: receipt + 27_500))
    #expect(held.servedHeaders(at: receipt + 10_000).all("age") == ["42"])
    #expect(held.servedHeaders(at: receipt).all("date") == [date()])
  }

  /// A step back of the clock, as NTP makes, is no residence; a leap makes the answer stale (4.2.3).
  @Test func `a clock that was set back is not trusted`() throws {
    let held = try #require(stored(["Date: \(date())", "Cache-Control: max-age=60", "ETag: \"a\""]))
    #expect(held.isFresh(at: receipt - 300_000) && held.age(at: receipt - 300_000) == 0)
    #expect(!held.isFresh(at: receipt - 300_001))
    #expect(decision(held, after: -3600) == .revalidate)
    #expect(decision(held, request(lifetime: 9), after: -3600) == .revalidate)
    #expect(!held.isFresh(at: .max) && !held.isFresh(at: .min) && held.age(at: .max) > 0)
    #expect(decision(held, request(["Cache-Control: max-stale=86400"]), after: -3600) == .revalidate)
  }

  /// Section 5.2.2.10: `s-maxage` is for shared caches alone, and they prefer it.
  static let sharedMaxAges: [(String, Int64, Int64)] = [
    ("s-maxage=3600, max-age=1", 1, 3600), ("max-age=3600, s-maxage=1", 3600, 1), ("s-maxage=3600", 0, 3600),
    ("max-age=5", 5, 5), ("s-maxage=x, max-age=5", 5, 0), ("s-maxage=1, s-maxage=2, max-age=5", 5, 0),
  ]

  @Test(arguments: sharedMaxAges)
  func `shared caches prefer their own`(_ value: String, alone: Int64, shared: Int64) {
    let lines = ["Cache-Control: \(value)", "Date: \(date())"]
    #expect(stored(lines)?.facts.lifetime == alone)
    #expect(stored(lines, rules: sharedRules)?.facts.lifetime == shared)
  }

  @Test func `a date is added when there is none`() {
    for line in ["X: y", "Date: foo", "Date:"] {
      #expect(stored([line, "Cache-Control: max-age=1"])?.headers.all("date") == [date()])
    }
    #expect(stored(["Date: \(date(-5))"])?.headers.all("date") == [date(-5)])
  }
}
