import NetSpool

/// What Cache-Control and Pragma say, and how they are read.
extension CacheRows {
  static let directiveText: [CacheRow] = [
    .fresh("names know no case", "RFC 9111 5.2", "Cache-Control: MaX-aGe=100"),
    .fresh("blanks around commas", "RFC 9110 5.6.1", "Cache-Control: foo ,\tmax-age=100 , bar"),
    .fresh("empty elements", "RFC 9110 5.6.1", "Cache-Control: ,,, max-age=100,,"),
    .fresh("several lines are one list", "RFC 9110 5.3", "Cache-Control: foo", lasting),
    .fresh("unknown directives", "RFC 9111 5.2.3", "Cache-Control: foo=bar, max-age=100, baz=\"x, y\""),
    .fresh("the quoted form", "RFC 9111 5.2", "Cache-Control: max-age=\"100\""),
    .stale("a quoted string is no directive", "RFC 9111 5.2", "Cache-Control: foo=\"max-age=100\""),
    .stale("nor is one in the middle of it", "RFC 9111 5.2", "Cache-Control: foo=\"a, max-age=100, b\""),
    .fresh("max-age behind a quoted string", "RFC 9111 5.2", "Cache-Control: a=\"b, \\\"c\", max-age=100"),
    .stale("a string without end", "RFC 9111 4.2.1", "Cache-Control: foo=\"x, max-age=100"),
    .stale("a blank before the sign", "RFC 9111 5.2", "Cache-Control: max-age =100"),
    .stale("a blank behind it", "RFC 9111 5.2", "Cache-Control: max-age= 100"),
    .stale("no number", "RFC 9111 4.2.1", "Cache-Control: max-age=foo"),
    .stale("nothing", "RFC 9111 4.2.1", "Cache-Control: max-age="),
    .stale("no value", "RFC 9111 4.2.1", "Cache-Control: max-age"),
    .stale("a negative number", "RFC 9111 1.2.2", "Cache-Control: max-age=-1"),
    .stale("a sign", "RFC 9111 1.2.2", "Cache-Control: max-age=+100"),
    .stale("a fraction", "RFC 9111 1.2.2", "Cache-Control: max-age=100.5"),
    .stale("a hexadecimal number", "RFC 9111 1.2.2", "Cache-Control: max-age=0x64"),
    .stale("a unit", "RFC 9111 1.2.2", "Cache-Control: max-age=100s"),
    .stale("single quotes", "RFC 9110 5.6.4", "Cache-Control: max-age='100'"),
    .stale("semicolons are no commas", "RFC 9110 5.6.1", "Cache-Control: max-age=100; foo"),
    .fresh("leading zeros", "RFC 9111 1.2.2", "Cache-Control: max-age=0000100"),
    .stale("said twice, differently", "RFC 9111 4.2.1", "Cache-Control: max-age=100, max-age=0"),
    .stale("said twice in two lines", "RFC 9111 4.2.1", "Cache-Control: max-age=0", lasting),
    .fresh("said twice, the same", "RFC 9111 4.2.1", "Cache-Control: max-age=100, max-age=100"),
    .stale("said twice, once badly", "RFC 9111 4.2.1", "Cache-Control: max-age=100, max-age=x"),
    .fresh("a quoted pair", "RFC 9110 5.6.4", "Cache-Control: max-age=\"1\\00\""),
    .stale("a colon is no equals sign", "RFC 9111 5.2", "Cache-Control: max-age:100"),
    .fresh("no-cache with a name", "RFC 9111 5.2.2.4", "Cache-Control: no-cache=x, max-age=100"),
    .stale("no-cache with an empty name", "RFC 9111 5.2.2.4", "Cache-Control: no-cache=, max-age=100"),
    .stale(
      "no-cache with what is no name", "RFC 9111 5.2.2.4", "Cache-Control: no-cache=\"a b\", max-age=100"),
    .stale("a longer name is another", "RFC 9111 5.2", "Cache-Control: xmax-age=100"),
    .unstored("no-store in any case", "RFC 9111 5.2.2.5", "Cache-Control: NO-STORE, max-age=100"),
    .unstored("no-store with a value", "RFC 9111 5.2.2.5", "Cache-Control: max-age=100, no-store=1"),
    .unstored(
      "no-store behind an open string", "RFC 9111 5.2.2.5", "Cache-Control: a=\"b, no-store", "Expires: {100}"
    ),
    .fresh("no-store as text", "RFC 9111 5.2", "Cache-Control: max-age=100, a=\"no-store\""),
    .fresh("a longer no-store is another", "RFC 9111 5.2.3", "Cache-Control: max-age=100, no-storex"),
  ]

  /// A request for an answer of this age that lasts 1500 seconds; one that goes to the origin alone says nothing of it.
  private static func asked(_ fields: String..., age: Int = 1000, sees: Visit.Outcome) -> CacheRow {
    CacheRow(
      "asked with \(fields) at \(age) s", "RFC 9111 5.2.1",
      .asks("Cache-Control: max-age=1500", "Age: \(age)", "ETag: \"a\""),
      Visit(
        with: fields, status: sees == .revalidated ? 304 : 200, sees: sees,
        sends: sees == .revalidated ? ["If-None-Match: \"a\""] : sees == .network ? ["!If-None-Match"] : [],
        age: sees == .cache ? age : nil))
  }

  private static func asked(at age: Int, _ controls: String..., sees: Visit.Outcome) -> [CacheRow] {
    controls.map { asked("Cache-Control: \($0)", age: age, sees: sees) }
  }

  static let requestDirectives: [CacheRow] =
    [
      asked(
        at: 1000, "max-age=1000", "max-age=\"2000\"", "max-age=99999999999999999999", "min-fresh=500",
        "ext=\"no-cache\"", "no-transform", "only-if-cached", "foo, bar=baz", sees: .cache),
      asked(
        at: 1000, "max-age=0", "max-age=600", "max-age=999", "max-age=2000, max-age=5", "max-age=x",
        "max-age", "min-fresh=501", "min-fresh=-1", "min-fresh=5, min-fresh=1000", "no-cache",
        "no-cache=\"x\"", "ext=\"no-cache", sees: .revalidated),
      asked(at: 1000, "only-if-cached, max-age=0", sees: .error(.notCached)),
      asked(
        at: 2000, "max-stale", "max-stale=500", "max-stale=1000", "max-stale=99999999999999999999",
        "max-stale=\"1000\"", "max-stale=1000, max-age=1999", "only-if-cached, max-stale=500", sees: .cache),
      asked(
        at: 2000, "max-age=2500", "max-stale=499", "max-stale=x", "max-stale=", "max-stale, max-stale=1",
        "max-stale=1000, max-age=999", "max-stale, min-fresh=1", "max-stale, no-cache",
        "max-stale, max-age=0", "stale-if-error=500", sees: .revalidated),
      asked(at: 2000, "only-if-cached", sees: .error(.notCached)),
    ].flatMap { $0 } + [
      asked("cache-control: NO-CACHE", sees: .revalidated), asked("Pragma: no-cache", sees: .revalidated),
      asked("Pragma: No-Cache, x", sees: .revalidated), asked("Pragma: other", sees: .cache),
      asked("Pragma: no-cache", "Cache-Control: max-stale", sees: .cache),
      asked("If-Range: \"x\"", sees: .cache),
      asked("Range: bytes=0-1", "Cache-Control: no-cache", sees: .network),
      asked("X-HTTP-Method: PUT", sees: .network), asked("X-Method-Override: PUT", sees: .network),
      asked(
        "Content-Type: text/plain", "User-Agent: x", "Range-Unit: x", "Accept: */*", "X-Http: 1",
        "Pragmatic: 1", sees: .cache),
      CacheRow(
        "a caller's own condition goes to the origin as it is", "RFC 9111 5.2.1.1",
        .asks(lasting, "ETag: \"a\""),
        .asks(with: ["If-None-Match: \"x\"", "Cache-Control: max-age=0"], sends: ["If-None-Match: \"x\""])),
      CacheRow("Pragma in an answer is ignored", "RFC 9111 5.4", .asks(lasting, "Pragma: no-cache"), .hits()),
      CacheRow(
        "no-store is neither answered nor kept", "RFC 9111 5.2.1.5",
        .asks(lasting, with: ["Cache-Control: no-store"]), .isMissing(), .asks(lasting),
        .asks(with: ["Cache-Control: no-store"]), .hits(bodyOf: 3)),
      CacheRow(
        "not past must-revalidate", "RFC 9111 5.2.2.2", .asks("Cache-Control: max-age=10, must-revalidate"),
        .asks(after: 20, with: ["Cache-Control: max-stale"])),
      CacheRow(
        "only-if-cached stays offline", "RFC 9111 5.2.1.7",
        Visit(with: ["Cache-Control: only-if-cached"], sees: .error(.notCached))),
    ]

  static let responseDirectives: [CacheRow] = [
    .unstored("no-store is not kept", "RFC 9111 5.2.2.5", "Cache-Control: no-store"),
    .unstored("whatever else is said", "RFC 9111 5.2.2.5", "Cache-Control: max-age=100, no-store, public"),
    .unstored("nor in a line of its own", "RFC 9111 5.2.2.5", lasting, "Cache-Control: no-store"),
    CacheRow(
      "no-store takes the place of what is held", "RFC 9111 4", .asks(short),
      .asks("Cache-Control: no-store", after: 20), .isMissing()),
    .stale("no-cache asks each time", "RFC 9111 5.2.2.4", "Cache-Control: no-cache"),
    .stale("even with a lifetime", "RFC 9111 5.2.2.4", "Cache-Control: no-cache, max-age=100"),
    CacheRow(
      "no-cache is kept to be asked about", "RFC 9111 5.2.2.4",
      .asks("Cache-Control: no-cache", "ETag: \"a\""),
      .confirms("ETag: \"a\"", sends: ["If-None-Match: \"a\""]),
      .confirms("ETag: \"a\"", sends: ["If-None-Match: \"a\""])),
    CacheRow(
      "no-cache is never used offline", "RFC 9111 5.2.2.4", .asks("Cache-Control: no-cache", "ETag: \"a\""),
      .isMissing()),
    .fresh(
      "no-cache of a field is about the field", "RFC 9111 5.2.2.4",
      "Cache-Control: max-age=100, no-cache=\"x\""),
    CacheRow(
      "which is not served from the cache", "RFC 9111 5.2.2.4",
      .asks("Cache-Control: max-age=100, no-cache=\"X-A\"", "X-A: 1", "X-B: 2", shows: ["X-A: 1"]),
      .hits(shows: ["!X-A", "X-B: 2"])),
    .fresh("private is for this cache", "RFC 9111 5.2.2.7", "Cache-Control: private, max-age=100"),
    CacheRow(
      "private of a field too", "RFC 9111 5.2.2.7",
      .asks("Cache-Control: max-age=100, private=\"X-A\"", "X-A: 1"), .hits(shows: ["X-A: 1"])),
    .fresh("public", "RFC 9111 5.2.2.9", "Cache-Control: public, max-age=100"),
    CacheRow(
      "must-revalidate while fresh", "RFC 9111 5.2.2.2", .asks("Cache-Control: max-age=10, must-revalidate"),
      .hits(after: 9), .asks(after: 2)),
    CacheRow(
      "must-revalidate is never used stale", "RFC 9111 5.2.2.2",
      .asks("Cache-Control: max-age=10, must-revalidate"),
      Visit(after: 20, policy: .preferCached, answer: [short])),
    CacheRow(
      "proxy-revalidate is for shared caches", "RFC 9111 5.2.2.8",
      .asks("Cache-Control: max-age=10, proxy-revalidate"),
      .hits(after: 20, with: ["Cache-Control: max-stale"])),
    .fresh(
      "must-understand of a known status", "RFC 9111 5.2.2.3",
      "Cache-Control: max-age=100, must-understand, no-store"),
    .unstored(
      "of an unknown one", "RFC 9111 5.2.2.3", "Cache-Control: max-age=100, must-understand", status: 299),
    .unstored(
      "of an unknown one that says no-store", "RFC 9111 5.2.2.3",
      "Cache-Control: max-age=100, must-understand, no-store", status: 299),
    CacheRow(
      "immutable stands up to max-age=0", "RFC 8246 2", .asks("Cache-Control: max-age=100, immutable"),
      .hits(with: ["Cache-Control: max-age=0"]), .asks(with: ["Cache-Control: no-cache"])),
    .stale("immutable does not lengthen", "RFC 8246 2", "Cache-Control: max-age=10, immutable", after: 20),
  ]
}
