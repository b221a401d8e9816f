import NetSpool

/// What makes stored answers worthless, and when stale ones serve all the same.
extension CacheRows {
  /// After this visit nothing is held at the path, or all is as it was (RFC 9111 section 4.4).
  private static func after(_ rule: String, _ visit: Visit, holds: Bool, at path: String = "") -> CacheRow {
    CacheRow(
      rule, "RFC 9111 4.4", .asks(lasting, path: path), visit,
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

  /// What an answer that changes something says of another path, and whether that is held afterwards.
  private static let references: [(method: String, status: Int, field: String, path: String, holds: Bool)] = [
    ("POST", 201, "Location: {url}/there", "/there", false), ("POST", 201, "Location: /rel", "/rel", false),
    ("POST", 200, "Content-Location: /content", "/content", false),
    ("PUT", 200, "Location: /put", "/put", false), ("FOO", 200, "Location: /foo", "/foo", false),
    ("POST", 500, "Location: /err", "/err", true), ("OPTIONS", 200, "Location: /safe", "/safe", true),
    ("POST", 200, "Content-Location: http://other.invalid/other", "/other", true),
  ]

  static let invalidation: [CacheRow] =
    ["POST", "PUT", "PATCH", "DELETE", "FOO"].map {
      after("\($0) takes it away", Visit(method: $0), holds: false)
    }
    + ["OPTIONS", "TRACE"].map { after("\($0) does not", Visit(method: $0), holds: true) }
    + [200, 201, 204, 299, 399, 400, 403, 404, 500, 503].map {
      after("a POST with \($0)", Visit(method: "POST", status: $0), holds: $0 >= 400)
    }
    + references.map { row in
      after(
        "\(row.method) with \(row.status) and \(row.field)",
        Visit(method: row.method, status: row.status, answer: [row.field]), holds: row.holds,
        at: "/..\(row.path)")
    }
    + [
      CacheRow(
        "whatever fields the one has that changes it", "RFC 9111 4.4", .asks(lasting),
        .asks(lasting, with: ann), .asks(lasting, with: ["X-Forwarded-Host: h"]), Visit(method: "POST"),
        .isMissing(), .isMissing(with: ann), .isMissing(with: ["X-Forwarded-Host: h"])),
      after(
        "a POST with more secrets",
        Visit(method: "POST", with: ["X-CSRF-Token: 1", "Cookie: a=b", "Authorization: Basic x"]),
        holds: false),
      after(
        "a POST whose answer is cut off",
        Visit(method: "POST", framing: .cutOff, sees: .error(.bodyTruncated), isAsked: true), holds: false),
      after("not another path", Visit(method: "POST", path: "/else"), holds: true),
      after("not another query", Visit(method: "POST", path: "?else"), holds: true),
    ]

  /// What serves 10 seconds after it was stored, when the origin fails: with a status, or without a byte.
  private static let failures: [(control: String, asked: String?, status: Int?, serves: Bool)] = [
    ("max-age=1", nil, nil, true), ("max-age=10, must-revalidate", nil, nil, false),
    ("max-age=1, stale-if-error=9", nil, nil, true),
    ("max-age=1, must-revalidate", nil, nil, false), ("max-age=1, no-cache", nil, nil, false),
    ("max-age=1", "no-cache", nil, false), ("max-age=1", "max-age=0", nil, false),
    ("max-age=1", "max-age=5", nil, true), ("max-age=60, must-revalidate", "max-age=1", nil, true),
    ("max-age=1", nil, 503, false), ("max-age=1, stale-if-error=8", nil, 503, false),
    ("max-age=1, stale-if-error=9", nil, 500, true), ("max-age=1, stale-if-error=9", nil, 502, true),
    ("max-age=1, stale-if-error=9", nil, 503, true), ("max-age=1, stale-if-error=9", nil, 504, true),
    ("max-age=1, stale-if-error=9", nil, 501, false), ("max-age=1, stale-if-error=9", nil, 404, false),
    ("max-age=1, stale-if-error=9, must-revalidate", nil, 503, false),
    ("no-cache, stale-if-error=60", nil, 503, false),
    ("max-age=1, stale-if-error=9, stale-if-error=99", nil, 503, false),
    ("max-age=1", "stale-if-error=9", 503, true), ("max-age=1", "stale-if-error=x", 503, false),
  ]

  static let staleness: [CacheRow] =
    failures.map { row in
      CacheRow(
        "the origin fails: \(row)", "RFC 5861 4", .asks("Cache-Control: \(row.control)", "ETag: \"a\""),
        Visit(
          after: 10, with: row.asked.map { ["Cache-Control: \($0)"] } ?? [], status: row.status ?? 200,
          framing: row.status == nil ? .hangUp : .length,
          sees: row.serves ? .stale : row.status == nil ? .error(.connectionLost) : .network, isAsked: true))
    } + [
      CacheRow(
        "no reload is given it", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
        .asks(status: 503, after: 20, policy: .reload), .isHeld(bodyOf: 1)),
      CacheRow(
        "an error does not take it away", "RFC 9111 4.3.3", .asks(short), .asks(status: 503, after: 20),
        .isHeld(bodyOf: 1)),
      CacheRow(
        "stale-while-revalidate ends", "RFC 5861 3",
        .asks("Cache-Control: max-age=10, stale-while-revalidate=5"), .asks(after: 20)),
      CacheRow(
        "a broken answer is like none", "RFC 9111 4.2.4", .asks(short),
        Visit(after: 20, framing: .cutOff, sees: .stale)),
      CacheRow(
        "not past must-revalidate", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10, must-revalidate"),
        Visit(after: 20, framing: .cutOff, sees: .error(.bodyTruncated), isAsked: true)),
      CacheRow(
        "what stands in answers conditions and in parts", "RFC 9111 4.3.2",
        .asks("Cache-Control: max-age=10, stale-if-error=600", "ETag: \"a\""),
        standsIn("If-None-Match: \"a\"", status: 304),
        standsIn("If-None-Match: \"b\"", status: 200, "body 1"),
        standsIn("Range: bytes=0-3", status: 206, "body"),
        standsIn("Range: bytes=0-3", status: 206, "body", framing: .cutOff)),
      CacheRow(
        "a part stands in for itself alone", "RFC 9111 4.2.4",
        part(0, 3, "Cache-Control: max-age=10, stale-if-error=600"),
        standsIn("Range: bytes=1-2", status: 206, "12"),
        .asks(status: 503, after: 20, with: ["Range: bytes=2-5"])),
    ]

  /// The origin fails, and what is held is the answer.
  private static func standsIn(
    _ field: String, status: Int, _ body: String = "", framing: Visit.Framing = .length
  ) -> Visit {
    Visit(
      after: 20, with: [field], status: 503, framing: framing, sees: .stale, shown: (status, body))
  }

  /// Answers to POST that say what a GET of the same target would be given.
  static let posted: [CacheRow] =
    [
      CacheRow(
        "it serves GET and HEAD, and no POST", "RFC 9110 9.3.3", post(lasting), .hits(bodyOf: 1),
        .hits(bodyOf: 1).by("HEAD"), post(), .isMissing()),
      CacheRow(
        "in the place of what was held", "RFC 9111 4.4", .asks(lasting), post(lasting), .hits(bodyOf: 2)),
      CacheRow(
        "with Expires", "RFC 9110 9.3.3", post("Expires: {100}"), .hits(after: 50, bodyOf: 1),
        .asks(after: 60)),
      CacheRow(
        "to be asked about", "RFC 9111 4.3.1", post(short, "ETag: \"a\""),
        .confirms(after: 20, sends: ["If-None-Match: \"a\""], bodyOf: 1)),
      CacheRow(
        "for whom it was sent", "RFC 9111 3.5", post(lasting, with: ann), .isMissing(),
        .isMissing(with: bob), .hits(with: ann, bodyOf: 1)),
      CacheRow(
        "as its fields chose", "RFC 9111 4.1", post(lasting, "Vary: Foo", with: ["Foo: 1"]),
        .isMissing(with: ["Foo: 2"]), .hits(with: ["Foo: 1"], bodyOf: 1)),
      CacheRow(
        "not as its body's fields chose", "RFC 9111 4.1", post(lasting, "Vary: Content-Type"), .isMissing()),
      CacheRow(
        "not when it is about another resource", "RFC 9110 9.3.3",
        Visit(method: "POST", path: "/../p1", answer: [lasting, "Content-Location: /p1?x"]),
        .isMissing(path: "/../p1"), .isMissing(path: "/../p1?x")),
      CacheRow(
        "not when it is cut off", "RFC 9111 3.3",
        Visit(
          method: "POST", answer: [lasting, "Content-Location:"], framing: .cutOff,
          sees: .error(.bodyTruncated), isAsked: true), .isMissing()),
      CacheRow(
        "a Content-Location that says the path of the target", "RFC 9110 9.3.3",
        Visit(method: "POST", path: "/../p2", answer: [lasting, "Content-Location: /p2"]),
        .hits(bodyOf: 1, path: "/../p2")),
      CacheRow(
        "no other method's", "RFC 9110 9.3.4",
        Visit(method: "PUT", answer: [lasting, "Content-Location:"]), .isMissing()),
    ]
    + ["Last-Modified: {-1000}", "Cache-Control: public", "Cache-Control: no-store, max-age=9"].map {
      CacheRow("not with \($0)", "RFC 9110 9.3.3", post($0), .isMissing())
    }

  /// Its Content-Location is empty, which is the target (RFC 3986 section 5.2.2).
  private static func post(_ answer: String..., with fields: [String] = []) -> Visit {
    Visit(method: "POST", with: fields, answer: answer + ["Content-Location:"])
  }
}
