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
    + ["OPTIONS", "TRACE"].map {
      after("\($0) does not", "RFC 9111 4.4", Visit(method: $0), holds: true)
    }
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
    CacheRow(
      "the network first", "RFC 9111 4.2.4", .asks("Cache-Control: max-age=10"), .asks(after: 20)),
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
      "a connection closed without a byte is no answer", "RFC 9111 4.2.4",
      .asks("Cache-Control: max-age=10"), Visit(after: 20, framing: .hangUp, sees: .stale)),
    CacheRow(
      "stale-if-error holds for it", "RFC 5861 4", .asks("Cache-Control: max-age=10, stale-if-error=60"),
      Visit(after: 20, framing: .hangUp, sees: .stale)),
    CacheRow(
      "not past must-revalidate then", "RFC 9111 4.2.4",
      .asks("Cache-Control: max-age=10, must-revalidate"),
      Visit(after: 20, framing: .hangUp, sees: .error(.connectionLost), isAsked: true)),
  ]
}
