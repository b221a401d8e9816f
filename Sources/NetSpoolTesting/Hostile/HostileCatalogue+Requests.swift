extension HostileCatalogue {
  private static func later(_ name: String, _ summary: String, _ retryAfter: String) -> HostileBehaviour {
    .plain(
      .requests, name, summary, Answer.text("later", status: 503).header("Retry-After", retryAfter))
  }

  /// Answers that are wrong only for the request they answer.
  static let requests: [HostileBehaviour] =
    uploads + conditions + [
      later("ret_after", "503, Retry-After: 1", "1"),
      later("ret_after_huge", "503, Retry-After of 20 digits", "99999999999999999999"),
      later("ret_after_minus", "503, Retry-After: -1", "-1"),
      later("ret_after_past", "503, Retry-After in the past", "Sun, 06 Nov 1994 08:49:37 GMT"),
      later("ret_after_junk", "503, Retry-After that is neither number nor date", "soon"),
    ]

  private static let uploads: [HostileBehaviour] = [
    .plain(
      .requests, "early_413", "413 before the body has come, then the end", .text("too large", status: 413)
    )
    .asked("POST")
    .atHead { _ in Answer.text("too large", status: 413).early().closing() },
    .plain(.requests, "early_200", "200 before the body has come, the connection stays", .text("enough"))
      .asked("POST")
      .atHead { _ in Answer.text("enough").early() },
    .plain(.requests, "expect_417", "417 to Expect: 100-continue, 200 without it", .text("ok"))
      .asked("POST", ["Expect": "100-continue"])
      .atHead { $0.header("Expect") == nil ? nil : Answer.status(417).closing() },
  ]

  private static let conditions: [HostileBehaviour] = [
    .plain(.requests, "304_unasked", "304 to a request without a condition", .status(304)),
    .plain(
      .requests, "206_unasked", "206 to a request without a range",
      Answer(status: 206, headers: ["Content-Range": "bytes 0-4/10"], body: .text("hello"))),
    .plain(
      .requests, "range_ignored", "200 with everything to a request for a range: allowed", .pattern(1_000)
    )
    .asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
    .plain(
      .requests, "range_wrong", "206 with another range than was asked for",
      Answer(
        status: 206, headers: ["Content-Range": "bytes 0-499/1000", "ETag": "\"a\""],
        body: .pattern(count: 500))
    ).asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
    .plain(
      .requests, "range_other_etag", "206 of another version of the body",
      Answer(
        status: 206, headers: ["Content-Range": "bytes 500-999/1000", "ETag": "\"b\""],
        body: .pattern(count: 500, from: 500))
    ).asked("GET", ["Range": "bytes=500-", "If-Range": "\"a\""]),
  ]
}
