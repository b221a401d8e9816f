import NetSpool

/// Which parts of a message are kept, and which messages.
extension CacheRows {
  static let storedFields: [CacheRow] = [
    CacheRow(
      "fields are kept, in order and case", "RFC 9111 3.1",
      .asks(lasting, "X-One: 1", "x-two: 2", "Content-Type: text/x-test", "Server: s", "Warning: 199 - x"),
      .hits(shows: ["X-One: 1", "X-Two: 2", "Content-Type: text/x-test", "Server: s", "Content-Length: 6"])),
    CacheRow(
      "those of the connection are not", "RFC 9111 3.1",
      .asks(
        lasting, "Connection: X-Hop, keep-alive", "X-Hop: 1", "Keep-Alive: timeout=1",
        "Proxy-Authenticate: Basic",
        "Proxy-Connection: keep-alive", "Upgrade: x", "TE: trailers", "Trailer: x"),
      .hits(shows: [
        "!Connection", "!X-Hop", "!Keep-Alive", "!Proxy-Authenticate", "!Proxy-Connection", "!Upgrade", "!TE",
        "!Trailer",
      ])),
    CacheRow(
      "nor is the transfer coding", "RFC 9111 3.1", Visit(answer: [lasting], framing: .chunks),
      .hits(shows: ["!Transfer-Encoding"])),
    CacheRow(
      "Date is served as it came", "RFC 9110 6.6.1", .asks(lasting, "Date: {-20}"),
      .hits(after: 30, shows: ["Date: {-50}"])),
    CacheRow(
      "a missing Date is made", "RFC 9110 6.6.1", .asks(lasting), .hits(after: 30, shows: ["Date: {-30}"])),
    CacheRow(
      "so is one that is none", "RFC 9110 6.6.1", .asks(lasting, "Date: soon"),
      .hits(after: 30, shows: ["Date: {-30}"])),
    CacheRow(
      "repeated fields stay repeated", "RFC 9110 5.3", .asks(lasting, "X-A: 1", "X-A: 2"),
      .hits(shows: ["X-A: 1"])),
    CacheRow(
      "the lifetime is served on", "RFC 9111 4", .asks(lasting, "ETag: \"a\""),
      .hits(shows: [lasting, "ETag: \"a\""])),
  ]

  static let wholeAnswers: [CacheRow] = [
    CacheRow("a length", "RFC 9111 3", .asks(lasting), .hits()),
    CacheRow("chunks", "RFC 9111 3", Visit(answer: [lasting], framing: .chunks), .hits()),
    CacheRow(
      "the end of the connection proves nothing", "RFC 9112 8",
      Visit(answer: [lasting], framing: .untilClose), .isMissing()),
    CacheRow(
      "a broken one is not kept", "RFC 9111 3.3",
      Visit(answer: [lasting], framing: .cutOff, sees: .error(.bodyTruncated), isAsked: true), .isMissing()),
    CacheRow("an empty one is whole", "RFC 9111 3", Visit(answer: [lasting], body: ""), .hits(bodyOf: 1)),
    CacheRow("no content is whole", "RFC 9111 3", Visit(status: 204, answer: [lasting]), .hits(bodyOf: 1)),
    CacheRow(
      "Set-Cookie is no hindrance, and a field", "RFC 9111 7.3", .asks(lasting, "Set-Cookie: a=b"),
      .hits(shows: ["Set-Cookie: a=b"], bodyOf: 1)),
    CacheRow(
      "a field of no-cache is there once it was confirmed", "RFC 9111 5.2.2.4",
      .asks("Cache-Control: max-age=10, no-cache=\"X-A\"", "X-A: 1", "ETag: \"a\"", shows: ["X-A: 1"]),
      .hits(shows: ["!X-A"]), .confirms("ETag: \"a\"", after: 20, shows: ["X-A: 1"]), .hits(shows: ["!X-A"])),
    CacheRow(
      "a coding that nobody knows", "RFC 9110 8.4", .asks(lasting, "Content-Encoding: x-own"),
      .hits(shows: ["Content-Encoding: x-own"], bodyOf: 1)),
  ]

  /// The origin sends the client to a path where "body 1" is held.
  private static func leads(_ status: Int, to path: String, _ fields: String..., after: Double = 0) -> Visit {
    Visit(after: after, status: status, answer: ["Location: \(path)"] + fields, sees: .stale, bodyOf: 1)
  }

  static let redirects: [CacheRow] =
    [301, 302, 303, 307, 308].map { status in
      CacheRow(
        "\(status) is followed, and with a lifetime kept", "RFC 9110 15.4",
        .asks(lasting, path: "/../to\(status)"), leads(status, to: "/to\(status)", lasting),
        .hits(bodyOf: 1), .isHeld(bodyOf: 1))
    }
    + [301, 308].map { status in
      CacheRow(
        "\(status) is kept, and lasts by heuristics", "RFC 9110 15.4.2",
        .asks(lasting, path: "/../for\(status)"),
        leads(status, to: "/for\(status)", "Last-Modified: {-1000}"), .hits(bodyOf: 1))
    }
    + [302, 307].map { status in
      CacheRow(
        "\(status) without a lifetime is not kept", "RFC 9110 15.4.3",
        .asks(lasting, path: "/../not\(status)"), leads(status, to: "/not\(status)"), .isMissing())
    } + [
      CacheRow(
        "300 without Location is an answer", "RFC 9110 15.4.1", .asks(lasting, status: 300), .hits(bodyOf: 1)),
      CacheRow(
        "a redirect without Location is one too", "RFC 9110 15.4", .asks(lasting, status: 301),
        .hits(bodyOf: 1)),
      CacheRow(
        "a stored redirect is asked about", "RFC 9111 4.3.3", .asks(lasting, path: "/../asked"),
        leads(301, to: "/asked", short, "ETag: \"r\""),
        Visit(
          after: 20, status: 304, answer: ["ETag: \"r\""], sees: .stale, bodyOf: 1,
          sends: ["If-None-Match: \"r\""]),
        .hits(bodyOf: 1)),
      CacheRow(
        "a redirect that says no-store takes away what is held", "RFC 9111 5.2.2.5",
        .asks(lasting, path: "/../gone"), leads(301, to: "/gone", short),
        leads(301, to: "/gone", "Cache-Control: no-store", after: 20), .isMissing()),
    ]

  static let credentials: [CacheRow] = [
    CacheRow(
      "an authorised answer is for who asked", "RFC 9111 3.5", .asks(lasting, with: ann),
      .hits(with: ann, bodyOf: 1), .asks(lasting, with: bob), .hits(with: bob, bodyOf: 3), .isMissing(),
      .hits(with: ann, bodyOf: 1)),
    CacheRow(
      "public changes nothing about it", "RFC 9111 3.5",
      .asks("Cache-Control: public, max-age=100", with: ann), .isMissing(), .isMissing(with: bob)),
    CacheRow(
      "an anonymous answer is not for who signs in", "RFC 9111 3.5", .asks(lasting),
      .asks(lasting, with: ann), .hits(bodyOf: 1)),
    CacheRow(
      "cookies tell users apart", "RFC 6265 5.4", .asks(lasting, with: ["Cookie: id=1"]),
      .asks(lasting, with: ["Cookie: id=2"]), .hits(with: ["Cookie: id=1"], bodyOf: 1), .isMissing()),
    CacheRow(
      "so do keys in fields of another name", "RFC 9111 3.5", .asks(lasting, with: ["X-Api-Key: 1"]),
      .asks(lasting, with: ["X-Api-Key: 2"]), .hits(with: ["X-Api-Key: 1"], bodyOf: 1)),
    CacheRow(
      "fields that route are part of the name", "RFC 9111 2", .asks(lasting, with: ["X-Forwarded-Host: a"]),
      .asks(lasting, with: ["X-Forwarded-Host: b"]), .asks(lasting),
      .hits(with: ["X-Forwarded-Host: a"], bodyOf: 1)),
  ]

  static let sharedCache: [CacheRow] =
    [
      .unstored("private is not kept", "RFC 9111 5.2.2.7", "Cache-Control: private, max-age=100"),
      CacheRow(
        "a private field is left out", "RFC 9111 5.2.2.7",
        .asks("Cache-Control: max-age=100, private=\"X-A\"", "X-A: 1"), .hits(shows: ["!X-A"])),
      .fresh("s-maxage comes first", "RFC 9111 5.2.2.10", "Cache-Control: max-age=1, s-maxage=100"),
      .stale(
        "also when it is shorter", "RFC 9111 5.2.2.10", "Cache-Control: max-age=100, s-maxage=1", after: 2),
      .fresh("s-maxage beats Expires", "RFC 9111 5.3", "Cache-Control: s-maxage=100", "Expires: {-100}"),
      .unstored("an authorised answer", "RFC 9111 3.5", lasting, with: ann),
      CacheRow(
        "proxy-revalidate is never used stale", "RFC 9111 5.2.2.8",
        .asks("Cache-Control: max-age=10, proxy-revalidate"),
        .asks(after: 20, with: ["Cache-Control: max-stale"])),
    ]
    + ["Set-Cookie: a=b", "set-cookie: a", "Set-Cookie2: a=b"].map {
      .unstored(
        "a cookie is for one cache alone: \($0)", "RFC 9111 7.3", "Cache-Control: public, max-age=100", $0)
    }
    + [
      CacheRow(
        "what has become private is not kept", "RFC 9111 5.2.2.7", .asks(short, "ETag: \"a\""),
        .confirms("ETag: \"a\"", "Cache-Control: private", after: 20), .isMissing()),
      CacheRow(
        "what s-maxage has ended is never used stale", "RFC 9111 5.2.2.10",
        .asks("Cache-Control: s-maxage=10"), .asks(after: 20, with: ["Cache-Control: max-stale"])),
    ]
    + ["private", "no-cache", "s-maxage=x"].map {
      .unstored(
        "an authorised answer that is \($0)", "RFC 9111 3.5", "Cache-Control: max-age=100, \($0)", with: ann)
    }
    + ["public", "must-revalidate", "s-maxage=100"].map {
      CacheRow(
        "an authorised answer that is \($0)", "RFC 9111 3.5",
        .asks("Cache-Control: max-age=100, \($0)", with: ann), .hits(with: bob, bodyOf: 1))
    }
}
