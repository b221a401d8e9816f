import NetSpool

/// What makes stored answers worthless, and when stale ones serve all the same.
extension CacheRows {
  private static let lasting = "Cache-Control: max-age=100"

  /// After this visit nothing is held at the path, or all is as it was.
  private static func after(
    _ rule: String, _ source: String, _ visit: Visit, holds: Bool, at path: String = ""
  ) -> CacheRow {
    CacheRow(
      rule, source, .asks(lasting, path: path), visit,
      holds ? .isHeld(path: path, bodyOf: 1) : .isMissing(path: path))
  }

  static let methods: [CacheRow] =
    ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"].map { method in
      CacheRow(
        "\(method) is not answered from the cache, nor kept", "RFC 9110 9.2.3", .asks(lasting),
        Visit(method: method, status: 400, answer: [lasting]), .hits(bodyOf: 1))
    } + [
      CacheRow(
        "an answer to POST is not kept", "RFC 9110 9.3.3", Visit(method: "POST", answer: [lasting]),
        .isMissing()),
      CacheRow(
        "names of methods know case", "RFC 9110 9.1", .asks(lasting), Visit(method: "get", status: 400),
        .hits(bodyOf: 1)),
      CacheRow(
        "another method in a field", "RFC 9110 9.1", .asks(lasting),
        .asks(lasting, with: ["X-HTTP-Method-Override: DELETE"]), .hits(bodyOf: 1)),
    ]

  static let invalidation: [CacheRow] =
    ["POST", "PUT", "PATCH", "DELETE", "FOO"].map {
      after("\($0) takes it away", "RFC 9111 4.4", Visit(method: $0), holds: false)
    }
    + ["OPTIONS", "TRACE"].map { after("\($0) does not", "RFC 9111 4.4", Visit(method: $0), holds: true) }
    + [200, 201, 204, 299].map {
      after("a POST with \($0)", "RFC 9111 4.4", Visit(method: "POST", status: $0), holds: false)
    }
    + [400, 403, 404, 500, 503].map {
      after("not a POST with \($0)", "RFC 9111 4.4", Visit(method: "POST", status: $0), holds: true)
    }
    + [
      after(
        "Location", "RFC 9111 4.4", Visit(method: "POST", status: 201, answer: ["Location: {url}/there"]),
        holds: false, at: "/../there"),
      after(
        "a relative Location", "RFC 9111 4.4", Visit(method: "POST", status: 201, answer: ["Location: /rel"]),
        holds: false, at: "/../rel"),
      after(
        "Content-Location", "RFC 9111 4.4", Visit(method: "POST", answer: ["Content-Location: /content"]),
        holds: false, at: "/../content"),
      after(
        "Location of PUT", "RFC 9111 4.4", Visit(method: "PUT", answer: ["Location: /put"]), holds: false,
        at: "/../put"),
      after(
        "Location of an unknown method", "RFC 9111 4.4", Visit(method: "FOO", answer: ["Location: /foo"]),
        holds: false, at: "/../foo"),
      after(
        "not with an error", "RFC 9111 4.4", Visit(method: "POST", status: 500, answer: ["Location: /err"]),
        holds: true, at: "/../err"),
      after(
        "not of a safe method", "RFC 9111 4.4", Visit(method: "OPTIONS", answer: ["Location: /safe"]),
        holds: true, at: "/../safe"),
      after(
        "not of another origin", "RFC 9111 4.4",
        Visit(method: "POST", answer: ["Content-Location: http://other.invalid/other"]), holds: true,
        at: "/../other"),
      CacheRow(
        "whatever fields the one has that changes it", "RFC 9111 4.4",
        .asks(lasting), .asks(lasting, with: ["Authorization: Bearer a"]),
        .asks(lasting, with: ["X-Forwarded-Host: h"]),
        Visit(method: "POST"), .isMissing(), .isMissing(with: ["Authorization: Bearer a"]),
        .isMissing(with: ["X-Forwarded-Host: h"])),
      after(
        "a POST with more secrets", "RFC 9111 4.4",
        Visit(method: "POST", with: ["X-CSRF-Token: 1", "Cookie: a=b", "Authorization: Basic x"]),
        holds: false),
      after(
        "a POST whose answer is cut off", "RFC 9111 4.4",
        Visit(method: "POST", framing: .cutOff, sees: .error(.bodyTruncated), isAsked: true), holds: false),
      after("not another path", "RFC 9111 4.4", Visit(method: "POST", path: "/else"), holds: true),
      after("not another query", "RFC 9111 4.4", Visit(method: "POST", path: "?else"), holds: true),
    ]

  static let staleness: [CacheRow] = [
    CacheRow("the network first", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10"), .asks(after: 20)),
    CacheRow(
      "an error does not make it fresh", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10"),
      .asks(status: 503, after: 20)),
    CacheRow(
      "nor does it take it away", "RFC 9111 4.3.3", .asks("Cache-Control: max-age=10"),
      .asks(status: 503, after: 20), .isHeld(bodyOf: 1)),
    CacheRow(
      "stale-if-error", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
      Visit(after: 20, status: 500, sees: .stale), Visit(status: 502, sees: .stale),
      Visit(status: 503, sees: .stale), Visit(status: 504, sees: .stale), .asks(status: 501)),
    CacheRow(
      "stale-if-error ends", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
      .asks(status: 503, after: 71)),
    CacheRow(
      "stale-if-error of the request", "RFC 5861 4", .asks("Cache-Control: max-age=10"),
      Visit(after: 20, with: ["Cache-Control: stale-if-error=60"], status: 503, sees: .stale)),
    CacheRow(
      "not past must-revalidate", "RFC 9111 5.2.2.2",
      .asks("Cache-Control: max-age=10, stale-if-error=60, must-revalidate"), .asks(status: 503, after: 20)),
    CacheRow(
      "not past no-cache", "RFC 9111 5.2.2.4", .asks("Cache-Control: no-cache, stale-if-error=60"),
      .asks(status: 503)),
    CacheRow(
      "a 404 is no such error", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
      .asks(status: 404, after: 20)),
    CacheRow(
      "a broken answer is like none", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10"),
      Visit(after: 20, framing: .cutOff, sees: .stale)),
    CacheRow(
      "not past must-revalidate either", "RFC 9111 4.2.4",
      .asks("Cache-Control: max-age=10, must-revalidate"),
      Visit(after: 20, framing: .cutOff, sees: .error(.bodyTruncated), isAsked: true)),
    CacheRow(
      "what stands in answers conditions and in parts", "RFC 9111 4.3.2",
      .asks("Cache-Control: max-age=10, stale-if-error=600", "ETag: \"a\""),
      standsIn("If-None-Match: \"a\"", status: 304), standsIn("If-None-Match: \"b\"", status: 200, "body 1"),
      standsIn("Range: bytes=0-3", status: 206, "body"),
      standsIn("Range: bytes=0-3", status: 206, "body", framing: .cutOff)),
    CacheRow(
      "a part stands in for itself alone", "RFC 9111 4.2.4",
      Visit(
        with: ["Range: bytes=0-3"], status: 206,
        answer: ["Cache-Control: max-age=10, stale-if-error=600", "Content-Range: bytes 0-3/10"],
        body: "0123"),
      standsIn("Range: bytes=1-2", status: 206, "12"),
      .asks(status: 503, after: 20, with: ["Range: bytes=2-5"])),
    CacheRow(
      "a connection closed without a byte is no answer", "RFC 9111 4.2.4",
      .asks("Cache-Control: max-age=10"), Visit(after: 20, framing: .hangUp, sees: .stale)),
    CacheRow(
      "stale-if-error holds for it", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
      Visit(after: 20, framing: .hangUp, sees: .stale)),
    CacheRow(
      "not past must-revalidate then", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10, must-revalidate"),
      Visit(after: 20, framing: .hangUp, sees: .error(.connectionLost), isAsked: true)),
  ]

  /// The origin fails, and what is held is the answer.
  private static func standsIn(
    _ field: String, status: Int, _ body: String = "", framing: Visit.Framing = .length
  ) -> Visit {
    var visit = Visit(after: 20, with: [field], status: 503, framing: framing, sees: .stale)
    visit.shown = (status, body)
    return visit
  }

  /// Answers to POST that say what a GET of the same target would be given.
  static let posted: [CacheRow] =
    [
      CacheRow(
        "it serves GET and HEAD, and no POST", "RFC 9110 9.3.3", post("/p1", lasting),
        .hits(bodyOf: 1, path: "/../p1"),
        .hits(bodyOf: 1, path: "/../p1").by("HEAD"), post("/p1"), .isMissing(path: "/../p1")),
      CacheRow(
        "in the place of what was held", "RFC 9111 4.4", .asks(lasting, path: "/../p2"), post("/p2", lasting),
        .hits(bodyOf: 2, path: "/../p2")),
      CacheRow(
        "with Expires", "RFC 9110 9.3.3", post("/p3", "Expires: {100}"),
        .hits(after: 50, bodyOf: 1, path: "/../p3"), .asks(after: 60, path: "/../p3")),
      CacheRow(
        "to be asked about", "RFC 9111 4.3.1", post("/p4", "Cache-Control: max-age=10", "ETag: \"a\""),
        .confirms(after: 20, sends: ["If-None-Match: \"a\""], bodyOf: 1, path: "/../p4")),
      CacheRow(
        "for whom it was sent", "RFC 9111 3.5", post("/p5", lasting, with: "Authorization: Bearer a"),
        .isMissing(path: "/../p5"), .isMissing(path: "/../p5", with: ["Authorization: Bearer b"]),
        .hits(with: ["Authorization: Bearer a"], bodyOf: 1, path: "/../p5")),
      CacheRow(
        "as its fields chose", "RFC 9111 4.1", post("/p6", lasting, "Vary: Foo", with: "Foo: 1"),
        .isMissing(path: "/../p6", with: ["Foo: 2"]), .hits(with: ["Foo: 1"], bodyOf: 1, path: "/../p6")),
      CacheRow(
        "not as its body's fields chose", "RFC 9111 4.1", post("/p7", lasting, "Vary: Content-Type"),
        .isMissing(path: "/../p7")),
      CacheRow(
        "not when it is about another resource", "RFC 9110 9.3.3",
        Visit(method: "POST", path: "/../p8", answer: [lasting, "Content-Location: /p8?x"]),
        .isMissing(path: "/../p8"), .isMissing(path: "/../p8?x")),
      CacheRow(
        "not when it is cut off", "RFC 9111 3.3",
        Visit(
          method: "POST", path: "/../p9", answer: [lasting, "Content-Location: /p9"], framing: .cutOff,
          sees: .error(.bodyTruncated), isAsked: true), .isMissing(path: "/../p9")),
      CacheRow(
        "an empty Content-Location is the target", "RFC 3986 5.2.2",
        Visit(method: "POST", path: "/../p10", answer: [lasting, "Content-Location:"]),
        .hits(bodyOf: 1, path: "/../p10")),
      CacheRow(
        "no other method's", "RFC 9110 9.3.4",
        Visit(method: "PUT", path: "/../p11", answer: [lasting, "Content-Location: /p11"]),
        .isMissing(path: "/../p11")),
    ]
    + ["Last-Modified: {-1000}", "Cache-Control: public", "Cache-Control: no-store, max-age=9"].enumerated()
    .map { number, field in
      CacheRow(
        "not with \(field)", "RFC 9110 9.3.3", post("/n\(number)", field), .isMissing(path: "/../n\(number)"))
    }

  private static func post(_ path: String, _ answer: String..., with field: String? = nil) -> Visit {
    Visit(
      method: "POST", path: "/..\(path)", with: field.map { [$0] } ?? [],
      answer: answer + ["Content-Location: \(path)"])
  }
}
