import Testing

@testable import NetSpool

/// What may be stored, by the request and the status (RFC 9111 section 3); the rows of `CacheRows` have the rest.
struct CacheStorabilityTests {
  @Test func `the request and the status decide`() {
    let fresh = ["Cache-Control: max-age=9"]
    #expect(stored(fresh) != nil && stored(fresh, policy: .noStore) == nil)
    #expect(stored(fresh + ["Content-Encoding: gzip"], request: ["Range: bytes=0-1"]) == nil)
    for status in [0, 100, 103, 199, 206, 304, 416, 600] { #expect(stored(fresh, status: status) == nil) }
  }
}
