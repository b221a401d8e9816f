import NetSpool

/// Asking whether what is held still holds, and what a 304 and a HEAD change.
extension CacheRows {
  /// Tags that are sent as they came, and what is none.
  private static let tags = ["W/\"a\"", "abc", "5", "*5", "\"a,b;c!\"", "\"é\u{80}\""]
  private static let noTags = ["*", "a,b", ""]

  static let validation: [CacheRow] =
    tags.map { tag in
      CacheRow(
        "by the ETag \(tag)", "RFC 9110 8.8.3", .asks(short, "ETag: \(tag)"),
        .confirms("ETag: \(tag)", after: 20, sends: ["If-None-Match: \(tag)"]))
    }
    + noTags.map { tag in
      CacheRow(
        "not by the ETag \(tag)", "RFC 9110 8.8.3", .asks(short, "ETag: \(tag)"),
        .asks(after: 20, sends: ["!If-None-Match"]))
    }
    + [404, 410].map { status in
      CacheRow(
        "a \(status) that may not be stored takes it away", "RFC 9111 4.3.3", .asks(short, "ETag: \"a\""),
        .asks("Cache-Control: no-store", status: status, after: 20), .isMissing())
    }
    + [
      CacheRow(
        "by ETag", "RFC 9111 4.3.1", .asks(short, "ETag: \"a\""),
        .confirms("ETag: \"a\"", after: 20, sends: ["If-None-Match: \"a\"", "!If-Modified-Since"])),
      CacheRow(
        "by Last-Modified", "RFC 9111 4.3.1", .asks(short, "Last-Modified: {-1000}"),
        .confirms(
          "Last-Modified: {-1020}", after: 20, sends: ["If-Modified-Since: {-1020}", "!If-None-Match"])),
      CacheRow(
        "by both", "RFC 9111 4.3.1", .asks(short, "ETag: \"a\"", "Last-Modified: {-1000}"),
        .confirms("ETag: \"a\"", after: 20, sends: ["If-None-Match: \"a\"", "If-Modified-Since: {-1020}"])),
      CacheRow(
        "the plain way without a validator", "RFC 9111 4.3.1", .asks(short),
        .asks(lasting, after: 20, sends: ["!If-None-Match", "!If-Modified-Since"]), .hits(bodyOf: 2)),
      CacheRow(
        "a date that is none is not sent", "RFC 9111 4.3.1", .asks(short, "Last-Modified: then"),
        .asks(after: 20, sends: ["!If-Modified-Since"])),
      CacheRow(
        "by a date as it came", "RFC 9111 4.3.1",
        .asks(short, "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT"),
        .confirms(after: 20, sends: ["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"])),
      CacheRow(
        "a changed resource comes whole", "RFC 9111 4.3.3", .asks(short, "ETag: \"a\""),
        .asks(lasting, "ETag: \"b\"", after: 20, sends: ["If-None-Match: \"a\""]), .hits(bodyOf: 2)),
      CacheRow(
        "a 304 without validator is about what was asked", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
        .confirms(after: 20)),
      CacheRow(
        "a strong tag that comes back weak", "RFC 9110 13.1.2", .asks(short, "ETag: \"a\""),
        .confirms("ETag: W/\"a\"", after: 20)),
      CacheRow(
        "the next question uses the new answer", "RFC 9111 4.3.1", .asks(short, "ETag: \"a\""),
        .asks(short, "ETag: \"b\"", after: 20),
        .confirms("ETag: \"b\"", after: 20, sends: ["If-None-Match: \"b\""])),
      CacheRow(
        "no question on a reload", "RFC 9111 5.2.1.4", .asks(lasting, "ETag: \"a\""),
        .asks(lasting, "ETag: \"a\"", sends: ["!If-None-Match"], policy: .reload), .hits(bodyOf: 2)),
      CacheRow(
        "a 404 takes the place of what is held", "RFC 9111 4.3.3", .asks(short, "ETag: \"a\""),
        .asks(lasting, status: 404, after: 20), .hits(bodyOf: 2)),
    ]

  static let updates: [CacheRow] = [
    CacheRow(
      "a 304 makes it fresh", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", lasting, after: 20), .hits(after: 90), .confirms(after: 20)),
    CacheRow(
      "the stored lifetime counts again", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", after: 20), .hits(after: 9), .confirms("ETag: \"a\"", after: 2)),
    CacheRow(
      "its age begins anew", "RFC 9111 4.2.3", .asks(lasting, "ETag: \"a\"", "Age: 50"),
      .confirms("ETag: \"a\"", after: 60, age: 0), .hits(after: 5, age: 5)),
    CacheRow(
      "Age of the 304 counts", "RFC 9111 4.2.3", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", lasting, "Age: 30", after: 20, age: 30), .hits(after: 60, age: 90)),
    CacheRow(
      "Expires of the 304", "RFC 9111 3.2", .asks("Expires: {10}", "ETag: \"a\""),
      .confirms("ETag: \"a\"", "Expires: {100}", after: 20), .hits(after: 90)),
    CacheRow(
      "fields are replaced, added and kept", "RFC 9111 3.2",
      .asks(short, "ETag: \"a\"", "X-Old: 1", "X-Both: 1", "X-Two: 1", "X-Two: 2"),
      .confirms(
        "ETag: \"a\"", "X-Both: 2", "X-New: 3", "X-Two: 4", after: 20,
        shows: ["X-Old: 1", "X-Both: 2", "X-New: 3", "X-Two: 4"]),
      .hits(shows: ["X-Old: 1", "X-Both: 2", "X-New: 3", "X-Two: 4"])),
    CacheRow(
      "what describes the bytes stays", "RFC 9111 3.2",
      .asks(short, "ETag: \"a\"", "Content-Type: text/plain"),
      .confirms(
        "ETag: \"a\"", "Content-Encoding: gzip", "Content-Range: bytes 0-1/2", "Content-Length: 3", after: 20,
        shows: ["Content-Length: 6", "!Content-Encoding", "!Content-Range"]),
      .hits(shows: ["Content-Length: 6", "!Content-Encoding", "!Content-Range"])),
    CacheRow(
      "other Content- fields are fields", "RFC 9111 3.2",
      .asks(short, "ETag: \"a\"", "Content-Language: de"),
      .confirms("ETag: \"a\"", "Content-Language: en", after: 20, shows: ["Content-Language: en"]),
      .hits(shows: ["Content-Language: en"])),
    CacheRow(
      "fields of the connection are not taken over", "RFC 9111 3.1", .asks(short, "ETag: \"a\""),
      .confirms(
        "ETag: \"a\"", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", after: 20,
        shows: ["!X-Hop", "!Keep-Alive"])),
    CacheRow(
      "Date is renewed", "RFC 9111 3.2", .asks(short, "ETag: \"a\"", "Date: {0}"),
      .confirms("ETag: \"a\"", "Date: {0}", after: 20, shows: ["Date: {0}"])),
    CacheRow(
      "a weak tag stays what it is", "RFC 9111 3.2", .asks(short, "ETag: W/\"a\""),
      .confirms("ETag: \"a\"", after: 20, shows: ["ETag: W/\"a\""])),
    CacheRow(
      "no-store in a 304 ends it", "RFC 9111 5.2.2.5", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", "Cache-Control: no-store", after: 20), .isMissing()),
    CacheRow(
      "no-cache in a 304 stays", "RFC 9111 3.2", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", "Cache-Control: no-cache", after: 20), .confirms("ETag: \"a\"")),
    CacheRow(
      "the body is not touched", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\""),
      .confirms("ETag: \"a\"", after: 20),
      .confirms("ETag: \"a\"", after: 20), .confirms("ETag: \"a\"", after: 20, bodyOf: 1)),
    CacheRow(
      "a stored 404 is confirmed as a 404", "RFC 9111 4.3.4", .asks(short, "ETag: \"a\"", status: 404),
      .confirms("ETag: \"a\"", after: 20, bodyOf: 1)),
  ]

  static let headUpdates: [CacheRow] =
    [404, 410].map { status in
      CacheRow(
        "a HEAD that finds nothing ends what is held, \(status)", "RFC 9111 4.3.5", .asks(short),
        Visit(method: "HEAD", after: 20, status: status), .isMissing())
    } + [
      CacheRow(
        "HEAD is answered from a stored GET", "RFC 9110 9.3.2", .asks(lasting, "X-A: 1"),
        .hits(shows: ["X-A: 1", "Content-Length: 6"]).by("HEAD"), .hits(bodyOf: 1)),
      CacheRow(
        "not the other way round", "RFC 9111 4", Visit(method: "HEAD", answer: [lasting]), .isMissing(),
        .asks(lasting)),
      CacheRow(
        "a stale one is asked for", "RFC 9111 4.3.5", .asks(short, "ETag: \"a\"", "X-A: 1"),
        Visit(
          method: "HEAD", after: 20, answer: [lasting, "ETag: \"a\"", "X-A: 2", "Content-Length: 6"],
          sends: ["!If-None-Match"]),
        .hits(shows: ["X-A: 2"], bodyOf: 1)),
      CacheRow(
        "another ETag ends what is held", "RFC 9111 4.3.5", .asks(short, "ETag: \"a\""),
        Visit(method: "HEAD", after: 20, answer: [lasting, "ETag: \"b\""]), .isMissing()),
      CacheRow(
        "another Last-Modified too", "RFC 9111 4.3.5", .asks(short, "Last-Modified: {-1000}"),
        Visit(method: "HEAD", after: 20, answer: [lasting, "Last-Modified: {-10}"]), .isMissing()),
      CacheRow(
        "another length too", "RFC 9111 4.3.5", .asks(short),
        Visit(method: "HEAD", after: 20, answer: [lasting, "Content-Length: 7"]), .isMissing()),
      CacheRow(
        "no-store too", "RFC 9111 5.2.2.5", .asks(short),
        Visit(method: "HEAD", after: 20, answer: ["Cache-Control: no-store"]), .isMissing()),
      CacheRow(
        "a length where none was said", "RFC 9111 4.3.5", Visit(answer: [short], framing: .chunks),
        Visit(method: "HEAD", after: 20, answer: [lasting]), .isMissing()),
      CacheRow(
        "but not beside the same ETag", "RFC 9111 4.3.5",
        Visit(answer: [short, "ETag: \"a\""], framing: .chunks),
        Visit(method: "HEAD", after: 20, answer: [lasting, "ETag: \"a\""]), .hits(bodyOf: 1)),
      CacheRow(
        "an error says nothing", "RFC 9111 4.3.5", .asks(short),
        Visit(method: "HEAD", after: 20, status: 503, answer: [lasting]), .isHeld(bodyOf: 1)),
    ]
}
