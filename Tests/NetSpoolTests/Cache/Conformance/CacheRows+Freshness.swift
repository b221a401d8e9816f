/// How long an answer lasts, and how old it is.
extension CacheRows {
  static let lifetimes: [CacheRow] = [
    .fresh("max-age is a lifetime", "RFC 9111 5.2.2.1", lasting, for: 99),
    .stale("max-age ends", "RFC 9111 4.2", lasting, after: 100),
    .stale("max-age=0 is none", "RFC 9111 5.2.2.1", "Cache-Control: max-age=0"),
    .fresh("a long max-age", "RFC 9111 5.2.2.1", "Cache-Control: max-age=31536000", for: 31_535_999),
    .fresh("2^31 seconds are a number", "RFC 9111 1.2.2", "Cache-Control: max-age=2147483648", for: 3600),
    .fresh("2^62 seconds are a number", "RFC 9111 1.2.2", "Cache-Control: max-age=4611686018427387904"),
    .fresh(
      "2^64 seconds are as many as can be", "RFC 9111 1.2.2", "Cache-Control: max-age=18446744073709551616"),
    .fresh("max-age beats an earlier Expires", "RFC 9111 5.3", lasting, "Expires: {-100}"),
    .stale("max-age beats a later Expires", "RFC 9111 5.3", short, "Expires: {100}", after: 20),
    .fresh("max-age beats Expires: 0", "RFC 9111 5.3", lasting, "Expires: 0"),
    .fresh(
      "s-maxage is not for a private cache", "RFC 9111 5.2.2.10", "Cache-Control: max-age=100, s-maxage=1"),
    .stale("s-maxage alone gives nothing", "RFC 9111 5.2.2.10", "Cache-Control: s-maxage=100"),
    .stale("Date in the past counts against max-age", "RFC 9111 4.2.3", lasting, "Date: {-200}"),
    .fresh("a clock a little ahead is forgiven", "RFC 9111 4.2.3", lasting, "Date: {60}"),
    .fresh("so is one far ahead", "RFC 9111 4.2.3", lasting, "Date: {86400}"),
    .stale("and its Age counts all the same", "RFC 9111 4.2.3", lasting, "Date: {86400}", "Age: 100"),
    .fresh("a Date that is none counts as now", "RFC 9110 6.6.1", lasting, "Date: soon"),
    .fresh("a Date as far ahead as can be", "RFC 9111 4.2.3", lasting, "Date: Fri, 31 Dec 9999 23:59:59 GMT"),
    .stale("nothing said, nothing kept", "RFC 9111 4.2.2", "Content-Type: text/plain"),
    CacheRow(
      "a new answer takes the place of the old", "RFC 9111 4", .asks(short), .asks(lasting, after: 20),
      .hits(after: 50, bodyOf: 2)),
    CacheRow(
      "each time-out is its own", "RFC 9111 4.2", .asks(short), .hits(after: 9),
      .asks(short, after: 2), .hits(after: 9, bodyOf: 3), .asks(after: 2)),
    CacheRow(
      "queries name other resources", "RFC 9111 2", .asks(lasting, path: "?a"), .asks(lasting, path: "?b"),
      .hits(bodyOf: 1, path: "?a"), .hits(bodyOf: 2, path: "?b"), .isMissing()),
  ]

  static let expires: [CacheRow] = [
    .fresh("Expires is a lifetime", "RFC 9111 5.3", "Expires: {100}", "Date: {0}", for: 98),
    .stale("Expires ends", "RFC 9111 5.3", "Expires: {100}", "Date: {0}", after: 101),
    .fresh("without Date it counts from receipt", "RFC 9110 6.6.1", "Expires: {100}", for: 98),
    .stale("Expires in the past", "RFC 9111 5.3", "Expires: {-100}", "Date: {0}"),
    .stale("Expires at Date", "RFC 9111 5.3", "Expires: {0}", "Date: {0}"),
    .stale("it counts from Date, not from now", "RFC 9111 4.2.1", "Expires: {-10}", "Date: {-110}"),
    .stale("Expires before Date", "RFC 9111 4.2.1", "Expires: {50}", "Date: {100}"),
    .fresh("a Date that is none", "RFC 9110 6.6.1", "Expires: {100}", "Date: soon"),
    .fresh(
      "beside a Cache-Control without a lifetime", "RFC 9111 5.3", "Cache-Control: public", "Expires: {100}"),
    .stale("0 is in the past", "RFC 9111 5.3", "Expires: 0"),
    .stale("a number is no date", "RFC 9111 5.3", "Expires: 100"),
    .stale("-1 is no date", "RFC 9111 5.3", "Expires: -1"),
    .stale("an empty one is no date", "RFC 9111 5.3", "Expires:"),
    .stale("words are no date", "RFC 9111 5.3", "Expires: tomorrow"),
    .stale("another zone is no HTTP date", "RFC 9110 5.6.7", "Expires: Thu, 18 Aug 2050 02:01:18 EST"),
    .stale("a date with text behind it is none", "RFC 9110 5.6.7", "Expires: {100}x"),
    .stale("two that differ are none", "RFC 9111 4.2.1", "Expires: {100}", "Expires: {-100}"),
    .fresh("two that agree are one", "RFC 9111 4.2.1", "Expires: {100}", "Expires: {100}"),
    .fresh("the form of RFC 850", "RFC 9110 5.6.7", "Expires: Thursday, 18-Aug-50 02:01:18 GMT"),
    .fresh("the form of asctime", "RFC 9110 5.6.7", "Expires: Thu Aug 18 02:01:18 2050"),
    .fresh("the far future", "RFC 9111 5.3", "Expires: Fri, 31 Dec 9999 23:59:59 GMT", for: 1e9),
    .stale("Age counts", "RFC 9111 4.2.3", "Expires: {100}", "Date: {0}", "Age: 150"),
    .stale("Age counts with a Date ahead", "RFC 9111 4.2.3", "Expires: {20}", "Date: {10}", "Age: 15"),
    .stale(
      "another max-age that is no number leaves none", "RFC 9111 4.2.1", "Cache-Control: max-age=x",
      "Expires: {100}"),
  ]

  static let ages: [CacheRow] = [
    CacheRow(
      "Age is what came and what passed", "RFC 9111 5.1", .asks(lasting, "Age: 30", shows: ["Age: 30"]),
      .hits(after: 10, age: 40), .hits(after: 50, age: 90), .asks(after: 10)),
    CacheRow(
      "without Age it begins at 0", "RFC 9111 5.1", .asks(lasting, shows: ["!Age"]),
      .hits(age: 0), .hits(after: 30, age: 30)),
    CacheRow(
      "Date counts when it is older", "RFC 9111 4.2.3",
      .asks(lasting, "Age: 5", "Date: {-40}"), .hits(after: 10, age: 50)),
    CacheRow(
      "Age counts when it is older", "RFC 9111 4.2.3",
      .asks(lasting, "Age: 60", "Date: {-40}"), .hits(after: 10, age: 70)),
    .stale("Age as long as the lifetime", "RFC 9111 4.2", lasting, "Age: 100"),
    .stale("Age beyond it", "RFC 9111 4.2", lasting, "Age: 12345"),
    .stale("Age past any number", "RFC 9111 1.2.2", lasting, "Age: 99999999999999999999"),
    .fresh("a negative one is ignored", "RFC 9111 5.1", lasting, "Age: -10"),
    .fresh("words are ignored", "RFC 9111 5.1", lasting, "Age: old"),
    .fresh("fractions are ignored", "RFC 9111 5.1", lasting, "Age: 7200.5"),
    .fresh("numbers with text are ignored", "RFC 9111 5.1", lasting, "Age: 7200a"),
    .stale("the first of a list counts", "RFC 9111 5.1", lasting, "Age: 7200, 0"),
    .fresh("and only the first", "RFC 9111 5.1", lasting, "Age: 0, 7200"),
    .stale("the first of two lines counts", "RFC 9111 5.1", lasting, "Age: 7200", "Age: 0"),
    .fresh("and only the first of them", "RFC 9111 5.1", lasting, "Age: 0", "Age: 7200"),
    .stale(
      "past any number beside such a lifetime", "RFC 9111 1.2.2", "Cache-Control: max-age=99999999999",
      "Age: 99999999999999999999"),
    .fresh("with a parameter it is no number", "RFC 9111 5.1", lasting, "Age: 7200;x=1"),
    .fresh("an empty one is ignored", "RFC 9111 5.1", lasting, "Age:"),
    .fresh("leading zeros are digits", "RFC 9111 1.2.2", lasting, "Age: 00010"),
  ]

  static let heuristics: [CacheRow] = [
    .fresh(
      "a tenth of the time since Last-Modified", "RFC 9111 4.2.2", "Last-Modified: {-1000}", "Date: {0}",
      for: 98),
    .stale("and no longer", "RFC 9111 4.2.2", "Last-Modified: {-1000}", "Date: {0}", after: 101),
    .fresh("at most a day of it", "RFC 9111 4.2.2", "Last-Modified: {-100000000}", "Date: {0}", for: 86_390),
    .stale(
      "a day of it and no more", "RFC 9111 4.2.2", "Last-Modified: {-100000000}", "Date: {0}", after: 86_401),
    .stale("Last-Modified after Date", "RFC 9111 4.2.2", "Last-Modified: {100}", "Date: {0}"),
    .stale("Last-Modified that is no date", "RFC 9111 4.2.2", "Last-Modified: yesterday"),
    .stale("an ETag alone", "RFC 9111 4.2.2", "ETag: \"a\""),
    .stale("not when there is an Expires", "RFC 9111 4.2.2", "Last-Modified: {-1000}", "Expires: 0"),
    .stale(
      "not when there is a max-age", "RFC 9111 4.2.2", "Last-Modified: {-1000}", "Cache-Control: max-age=0"),
    .stale(
      "not when no-cache says so", "RFC 9111 5.2.2.4", "Last-Modified: {-1000}", "Cache-Control: no-cache"),
    .stale("an image without any information", "RFC 9111 4.2.2", "Content-Type: image/png"),
    .fresh(
      "an image, a tenth of its age", "RFC 9111 4.2.2", "Content-Type: image/png", "Last-Modified: {-1000}",
      for: 98),
    .stale(
      "an image, no longer", "RFC 9111 4.2.2", "Content-Type: image/png", "Last-Modified: {-1000}",
      after: 101),
    .stale("an image with an ETag alone", "RFC 9111 4.2.2", "Content-Type: image/png", "ETag: \"a\""),
    .stale(
      "an image that says no-cache", "RFC 9111 5.2.2.4", "Content-Type: image/png", "Cache-Control: no-cache"),
  ]

  /// Whether Last-Modified alone makes an answer of this status last (RFC 9110 section 15.1).
  static let statuses: [CacheRow] =
    [200, 203, 204, 300, 404, 405, 410, 414, 501].map { status in
      CacheRow(
        "\(status) lasts by heuristics", "RFC 9110 15.1",
        Visit(status: status, answer: ["Last-Modified: {-10000}", "Date: {0}"]),
        Visit(after: 500, sees: .cache, bodyOf: 1))
    }
    + [201, 202, 400, 401, 402, 403, 406, 409, 411, 412, 415, 418, 422, 451, 500, 502, 504, 505, 511, 599].map
  {
    .unstored("\($0) does not", "RFC 9110 15.1", "Last-Modified: {-10000}", "Date: {0}", status: $0)
  }
    + [
      200, 201, 202, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 403, 404, 410, 451, 499, 500, 502, 503,
      504, 599,
    ].map { .fresh("\($0) lasts by max-age", "RFC 9111 3", "Cache-Control: max-age=100", status: $0) }
    + [200, 404, 410, 500, 599].map {
      .unstored("\($0) obeys no-store", "RFC 9111 5.2.2.5", "Cache-Control: no-store, max-age=9", status: $0)
    }
    + [
      .fresh("403 lasts when it is public", "RFC 9111 3", "Cache-Control: public, max-age=100", status: 403),
      .fresh("500 lasts by Expires", "RFC 9111 3", "Expires: {100}", status: 500),
      CacheRow(
        "500 is kept when it is private", "RFC 9111 3", .asks("Cache-Control: private", status: 500),
        .isHeld(bodyOf: 1)),
      CacheRow("200 is kept, whatever it says", "RFC 9111 3", .asks(), .isHeld()),
      .unstored("500 with a lifetime that is none", "RFC 9111 3", "Cache-Control: max-age=x", status: 500),
      .unstored("500 with a public that is none", "RFC 9111 3", "Cache-Control: public=", status: 500),
    ]
}
