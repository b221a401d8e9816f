import NetSpool

/// Conditions of the caller's own, and parts.
extension CacheRows {
  private static let digits = "0123456789"

  /// What the cache answers alone.
  private static func cached(
    _ with: String..., status: Int, body: String = "", shows: [String] = []
  ) -> Visit {
    Visit(with: with, sees: .cache, shows: shows, shown: (status, body))
  }

  private static func whole(_ answer: String...) -> Visit { Visit(answer: [lasting] + answer, body: digits) }

  /// An answer of the origin to a request for a part, which lasts when it does not say for how long.
  static func part(
    _ first: Int, _ last: Int, _ answer: String..., total: String = "10", body: String? = nil,
    after: Double = 0, sends: [String] = []
  ) -> Visit {
    let control = answer.contains { $0.hasPrefix("Cache-Control") } ? [] : [lasting]
    return Visit(
      after: after, with: ["Range: bytes=\(first)-\(last)"], status: 206,
      answer: control + ["Content-Range: bytes \(first)-\(last)/\(total)"] + answer,
      body: body ?? String(digits.dropFirst(first).prefix(last - first + 1)), sends: sends)
  }

  static let ownConditions: [CacheRow] = [
    CacheRow(
      "the same tag is not modified", "RFC 9111 4.3.2", whole("ETag: \"a\"", "Content-Type: text/plain"),
      cached(
        "If-None-Match: \"a\"", status: 304, shows: ["ETag: \"a\"", "!Content-Length", "!Content-Type"]),
      .hits(bodyOf: 1)),
    CacheRow(
      "one of several tags, compared weakly", "RFC 9110 13.1.2", whole("ETag: W/\"a,b\""),
      cached("If-None-Match: \"x\", \"a,b\"", status: 304), cached("If-None-Match: *", status: 304)),
    CacheRow(
      "another tag gets it all", "RFC 9111 4.3.2", whole("ETag: \"a\""),
      cached("If-None-Match: \"b\"", status: 200, body: digits)),
    CacheRow(
      "a tag comes before a date", "RFC 9110 13.2.2", whole("ETag: \"a\"", "Last-Modified: {-1000}"),
      cached("If-None-Match: \"b\"", "If-Modified-Since: {0}", status: 200, body: digits)),
    CacheRow(
      "not modified since", "RFC 9111 4.3.2", whole("Last-Modified: {-1000}"),
      cached("If-Modified-Since: {-1000}", status: 304), cached("If-Modified-Since: {-10}", status: 304),
      cached("If-Modified-Since: {-1001}", status: 200, body: digits),
      cached("If-Modified-Since: never", status: 200, body: digits)),
    CacheRow(
      "without Last-Modified the Date counts", "RFC 9111 4.3.2", whole("Date: {-50}"),
      cached("If-Modified-Since: {-50}", status: 304),
      cached("If-Modified-Since: {-51}", status: 200, body: digits)),
    CacheRow(
      "a stale one is the origin's to tell", "RFC 9111 4.3.2", .asks(short, "ETag: \"a\""),
      .asks(
        lasting, "ETag: \"b\"", after: 20, with: ["If-None-Match: \"x\""],
        sends: ["If-None-Match: \"x\"", "!If-Modified-Since"]), .hits(bodyOf: 2)),
    CacheRow(
      "a 304 to a caller's tag renews what is held under it", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
      Visit(
        after: 20, with: ["If-None-Match: \"a\""], status: 304, answer: ["ETag: \"a\"", lasting], body: ""),
      .hits(after: 50, bodyOf: 1)),
    CacheRow(
      "a 304 to a caller's other tag changes nothing", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
      Visit(
        after: 20, with: ["If-None-Match: \"x\""], status: 304, answer: ["ETag: \"x\"", lasting], body: ""),
      .isHeld(bodyOf: 1),
      .confirms("ETag: \"a\"", sends: ["If-None-Match: \"a\""], bodyOf: 1)),
    CacheRow(
      "preconditions are for origins", "RFC 9111 4.3.2", .asks(lasting, "ETag: \"a\""),
      .asks(with: ["If-Match: \"a\""], sends: ["If-Match: \"a\""]),
      .asks(with: ["If-Unmodified-Since: {0}"]), .hits(bodyOf: 1)),
    CacheRow(
      "a whole answer to a condition is kept", "RFC 9111 3", .asks(lasting, with: ["If-None-Match: \"x\""]),
      .hits(bodyOf: 1)),
  ]

  static let ranges: [CacheRow] = [
    CacheRow(
      "parts of what is whole and fresh", "RFC 9110 14.2", whole(),
      cached(
        "Range: bytes=2-4", status: 206, body: "234",
        shows: ["Content-Range: bytes 2-4/10", "Content-Length: 3"]),
      cached("Range: bytes=7-", status: 206, body: "789", shows: ["Content-Range: bytes 7-9/10"]),
      cached("Range: bytes=-2", status: 206, body: "89"),
      cached("Range: bytes=8-99", status: 206, body: "89"),
      cached("Range: BYTES=0-0", status: 206, body: "0"), .hits(bodyOf: 1)),
    CacheRow(
      "what is no range is no matter", "RFC 9110 14.2", whole(),
      cached("Range: lines=0-1", status: 200, body: digits),
      cached("Range: bytes=4-2", status: 200, body: digits),
      cached("Range: bytes=a-b", status: 200, body: digits),
      cached("Range: bytes=", status: 200, body: digits)),
    CacheRow(
      "more than there is", "RFC 9110 15.3.7", whole(),
      cached("Range: bytes=0-9,0-9", status: 200, body: digits)),
    CacheRow(
      "If-Range with the strong tag", "RFC 9110 13.1.5", whole("ETag: \"a\""),
      cached("Range: bytes=0-1", "If-Range: \"a\"", status: 206, body: "01"),
      cached("Range: bytes=0-1", "If-Range: \"b\"", status: 200, body: digits),
      cached("Range: bytes=0-1", "If-Range: W/\"a\"", status: 200, body: digits)),
    CacheRow(
      "If-Range with the date", "RFC 9110 13.1.5", whole("Last-Modified: {-1000}", "Date: {0}"),
      cached("Range: bytes=0-1", "If-Range: {-1000}", status: 206, body: "01"),
      cached("Range: bytes=0-1", "If-Range: {-10}", status: 200, body: digits)),
    CacheRow(
      "a weak tag proves nothing", "RFC 9110 13.1.5", whole("ETag: W/\"a\""),
      cached("Range: bytes=0-1", "If-Range: W/\"a\"", status: 200, body: digits)),
    CacheRow(
      "not modified comes before a part", "RFC 9110 13.2.2", whole("ETag: \"a\""),
      cached("Range: bytes=0-1", "If-None-Match: \"a\"", status: 304)),
    CacheRow(
      "a stale whole is no source of parts", "RFC 9111 4", Visit(answer: [short], body: digits),
      part(0, 1, after: 20, sends: ["Range: bytes=0-1", "!If-None-Match"])),
    CacheRow(
      "a part is kept for who asks for it", "RFC 9111 3.3", part(2, 5, "ETag: \"a\""),
      cached("Range: bytes=3-4", status: 206, body: "34", shows: ["Content-Range: bytes 3-4/10"]),
      .isMissing(), part(3, 8, "ETag: \"a\"")),
    CacheRow(
      "parts of one body become a whole", "RFC 9111 3.4", part(0, 3, "ETag: \"a\""),
      part(6, 9, "ETag: \"a\""),
      cached("Range: bytes=7-8", status: 206, body: "78"), .isMissing(), part(3, 6, "ETag: \"a\""),
      cached(status: 200, body: digits, shows: ["Content-Length: 10", "!Content-Range"])),
    CacheRow(
      "parts of two bodies do not", "RFC 9110 15.3.7.3", part(0, 4, "ETag: \"a\""), part(5, 9, "ETag: \"b\""),
      .isMissing(), cached("Range: bytes=5-9", status: 206, body: "56789"),
      .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "nor do they without a tag", "RFC 9110 15.3.7.3", part(0, 4), part(5, 9), .isMissing(),
      cached("Range: bytes=5-9", status: 206, body: "56789"), .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "nor under a weak one", "RFC 9110 15.3.7.3", part(0, 4, "ETag: W/\"a\""), part(5, 9, "ETag: W/\"a\""),
      .isMissing(), .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "nor when only one of them has a tag", "RFC 9110 15.3.7.3", part(0, 4, "ETag: \"a\""),
      part(5, 9, "Last-Modified: {-1000}", "Date: {0}"), .isMissing(), .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "parts of one date that proves it do", "RFC 9110 8.8.2.2",
      part(0, 4, "Last-Modified: {-1000}", "Date: {0}"),
      part(5, 9, "Last-Modified: {-1000}", "Date: {0}"), cached(status: 200, body: digits)),
    CacheRow(
      "of a date that does not, they do not", "RFC 9110 8.8.2.2",
      part(0, 4, "Last-Modified: {0}", "Date: {0}"),
      part(5, 9, "Last-Modified: {0}", "Date: {0}"), .isMissing(), .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "nor when the origin has no clock", "RFC 9110 8.8.2.2", part(0, 4, "Last-Modified: {-1000}"),
      part(5, 9, "Last-Modified: {-1000}"), .isMissing(), .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "a part that nothing tells apart serves parts of it", "RFC 9111 3.3", part(4, 9),
      cached("Range: bytes=4-9", status: 206, body: "456789", shows: ["Content-Range: bytes 4-9/10"]),
      cached("Range: bytes=5-7", status: 206, body: "567"),
      cached("Range: bytes=-2", status: 206, body: "89"),
      cached("Range: bytes=6-", status: 206, body: "6789"), .isMissing(with: ["Range: bytes=3-5"]),
      .isMissing()),
    CacheRow(
      "a part that is all of it is the whole", "RFC 9111 3.4", part(0, 9), cached(status: 200, body: digits)),
    CacheRow(
      "a part of another length than it says is not kept", "RFC 9110 15.3.7",
      part(0, 4, body: "0123"), .isMissing(with: ["Range: bytes=0-3"])),
    CacheRow(
      "nor is one of an unknown whole", "RFC 9110 14.4", part(0, 4, total: "*"),
      .isMissing(with: ["Range: bytes=0-4"])),
    CacheRow(
      "a part gets old", "RFC 9111 4.2", part(0, 4, short), part(0, 4, body: "abcde", after: 20),
      cached("Range: bytes=1-2", status: 206, body: "bc")),
    CacheRow(
      "a stale whole hides no fresh part", "RFC 9111 4", Visit(answer: [short], body: digits),
      part(2, 5, body: "cdef", after: 20), cached("Range: bytes=3-4", status: 206, body: "de"),
      .isHeld(bodyOf: 1), part(0, 1, body: "ab"), cached("Range: bytes=0-1", status: 206, body: "ab")),
    CacheRow(
      "a part does not take the place of the whole", "RFC 9111 3.4",
      Visit(answer: [short, "ETag: \"a\""], body: digits), part(0, 1, "ETag: \"a\"", after: 20),
      .isHeld(bodyOf: 1)),
    CacheRow(
      "a whole answer to a request for a part is kept", "RFC 9110 15.3.1",
      Visit(with: ["Range: bytes=0-1"], answer: [lasting], body: digits), .hits(bodyOf: 1)),
    .fresh("Content-Range means nothing outside 206", "RFC 9110 14.4", lasting, "Content-Range: bytes 0-5/6"),
    CacheRow(
      "416 is not kept", "RFC 9110 15.5.17", .asks(lasting, status: 416, with: ["Range: bytes=9-"]),
      .isMissing()),
  ]
}
