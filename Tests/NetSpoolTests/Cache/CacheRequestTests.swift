import Testing

@testable import NetSpool

/// Cache-Control and Pragma in requests (RFC 9111 sections 5.2.1 and 5.4).
struct CacheRequestTests {
  /// What a request says, and the decision about an answer with `max-age=1500` and `Age: 1000`.
  static let fresh: [([String], Verdict)] = [
    ([], .serve), (["Cache-Control: max-age=0"], .revalidate), (["Cache-Control: max-age=600"], .revalidate),
    (["Cache-Control: max-age=1000"], .serve), (["Cache-Control: max-age=999"], .revalidate),
    (["Cache-Control: max-age=\"2000\""], .serve), (["Cache-Control: max-age=2000, max-age=5"], .revalidate),
    (["Cache-Control: max-age=99999999999999999999"], .serve), (["Cache-Control: max-age=x"], .revalidate),
    (["Cache-Control: max-age"], .revalidate), (["Cache-Control: min-fresh=500"], .serve),
    (["Cache-Control: min-fresh=501"], .revalidate), (["Cache-Control: min-fresh=-1"], .revalidate),
    (["Cache-Control: min-fresh=5, min-fresh=1000"], .revalidate),
    (["Cache-Control: no-cache"], .revalidate), (["cache-control: NO-CACHE"], .revalidate),
    (["Cache-Control: no-cache=\"x\""], .revalidate), (["Cache-Control: ext=\"no-cache\""], .serve),
    (["Cache-Control: ext=\"no-cache"], .revalidate), (["Cache-Control: no-store"], .bypass),
    (["Cache-Control: no-transform"], .serve), (["Cache-Control: only-if-cached"], .serve),
    (["Cache-Control: only-if-cached, max-age=0"], .notCached), (["Cache-Control: foo, bar=baz"], .serve),
    (["Pragma: no-cache"], .revalidate), (["Pragma: No-Cache, x"], .revalidate), (["Pragma: other"], .serve),
    (["Pragma: no-cache", "Cache-Control: max-stale"], .serve),  // 5.4: only without Cache-Control
    (["Range: bytes=0-1"], .serve), (["If-None-Match: \"x\""], .serve), (["If-Match: *"], .bypass),
    (["If-Modified-Since: \(date())"], .serve), (["If-Unmodified-Since: \(date())"], .bypass),
    (["If-Range: \"x\""], .serve), (["Range: bytes=0-1", "Cache-Control: no-cache"], .fetch),
    (["If-None-Match: \"x\"", "Cache-Control: max-age=0"], .fetch),
    (["X-HTTP-Method-Override: DELETE"], .bypass),
    (["X-HTTP-Method: PUT"], .bypass), (["X-Method-Override: PUT"], .bypass),
    (["Content-Type: text/plain", "Range-Unit: x", "Accept: */*", "X-Http: 1", "Pragmatic: 1"], .serve),
  ]

  @Test(arguments: fresh)
  func `decides about a fresh answer`(_ lines: [String], verdict: Verdict) throws {
    let held = try #require(
      stored(["Cache-Control: max-age=1500", "Age: 1000", "ETag: \"a\"", "Date: \(date())"]))
    #expect(decision(held, request(lines), after: 0) == verdict)
  }

  /// The same for one that is 500 seconds past its lifetime of 1500 (section 5.2.1.2).
  static let stale: [(String, Verdict)] = [
    ("max-stale", .serve), ("max-stale=500", .serve), ("max-stale=499", .revalidate),
    ("max-stale=1000", .serve), ("max-stale=99999999999999999999", .serve), ("max-stale=x", .revalidate),
    ("max-stale=\"1000\"", .serve), ("max-stale=", .revalidate), ("max-stale, max-stale=1", .revalidate),
    ("max-stale=1000, max-age=1999", .serve), ("max-stale=1000, max-age=999", .revalidate),
    ("max-stale, min-fresh=1", .revalidate), ("max-stale, no-cache", .revalidate),
    ("max-stale, max-age=0", .revalidate), ("only-if-cached", .notCached),
    ("only-if-cached, max-stale=500", .serve), ("stale-if-error=500", .revalidate),
  ]

  @Test(arguments: stale)
  func `decides about a stale answer`(_ value: String, verdict: Verdict) throws {
    let held = try #require(
      stored(["Cache-Control: max-age=1500", "Age: 2000", "ETag: \"a\"", "Date: \(date())"]))
    #expect(decision(held, request(["Cache-Control: \(value)"]), after: 0) == verdict)
  }

  @Test func `a scan of other fields finds nothing`() {
    #expect(RequestDirectives(fields("Accept: */*", "User-Agent: x", "Content-Type: y", "X: z")) == .none)
    #expect(RequestDirectives(Headers()) == .none)
  }
}
