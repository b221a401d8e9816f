import Testing

@testable import NetSpool

/// Age to the millisecond, and a clock that was set back (RFC 9111 section 4.2.3).
struct CacheFreshnessTests {
  /// 4.2.3: the time the answer was under way counts, residence counts, to the millisecond.
  @Test func `age is counted`() throws {
    let held = try #require(stored(["Date: \(date())", "Cache-Control: max-age=60", "Age: 30"], delay: 2500))
    #expect(
      held.age(at: receipt) == 32 && held.age(at: receipt + 499) == 32 && held.age(at: receipt + 500) == 33)
    #expect(held.isFresh(at: receipt + 27_499) && !held.isFresh(at: receipt + 27_500))
    #expect(held.servedHeaders(age: held.age(at: receipt + 10_000)).all("age") == ["42"])
    #expect(held.servedHeaders(age: held.age(at: receipt)).all("date") == [date()])
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
}
