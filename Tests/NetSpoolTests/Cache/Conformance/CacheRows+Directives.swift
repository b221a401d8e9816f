import NetSpool

/// What Cache-Control and Pragma say, and how they are read.
extension CacheRows {
  static let directiveText: [CacheRow] = [
    .fresh("names know no case", "RFC 9111 5.2", "Cache-Control: MaX-aGe=100"),
    .fresh("blanks around commas", "RFC 9110 5.6.1", "Cache-Control: foo ,\tmax-age=100 , bar"),
    .fresh("empty elements", "RFC 9110 5.6.1", "Cache-Control: ,,, max-age=100,,"),
    .fresh("several lines are one list", "RFC 9110 5.3", "Cache-Control: foo", "Cache-Control: max-age=100"),
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
    .stale(
      "said twice in two lines", "RFC 9111 4.2.1", "Cache-Control: max-age=0", "Cache-Control: max-age=100"),
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

  static let requestDirectives: [CacheRow] = [
    CacheRow(
      "no-cache asks", "RFC 9111 5.2.1.4", .asks("Cache-Control: max-age=100", "ETag: \"a\""),
      .confirms("ETag: \"a\"", with: ["Cache-Control: no-cache"], sends: ["If-None-Match: \"a\""])),
    CacheRow(
      "Pragma: no-cache asks", "RFC 9111 5.4", .asks("Cache-Control: max-age=100"),
      .asks(with: ["Pragma: no-cache"])),
    CacheRow(
      "Pragma counts only without Cache-Control", "RFC 9111 5.4", .asks("Cache-Control: max-age=100"),
      .hits(with: ["Pragma: no-cache", "Cache-Control: max-age=50"])),
    CacheRow(
      "another Pragma is ignored", "RFC 9111 5.4", .asks("Cache-Control: max-age=100"),
      .hits(with: ["Pragma: foo"])),
    CacheRow(
      "Pragma in an answer is ignored", "RFC 9111 5.4",
      .asks("Cache-Control: max-age=100", "Pragma: no-cache"), .hits()),
    CacheRow(
      "no-store is neither answered nor kept", "RFC 9111 5.2.1.5",
      .asks("Cache-Control: max-age=100", with: ["Cache-Control: no-store"]), .isMissing(),
      .asks("Cache-Control: max-age=100"), .asks(with: ["Cache-Control: no-store"]), .hits(bodyOf: 3)),
    CacheRow(
      "max-age bounds the age", "RFC 9111 5.2.1.1", .asks("Cache-Control: max-age=100"),
      .hits(after: 20, with: ["Cache-Control: max-age=30"]),
      .asks(after: 20, with: ["Cache-Control: max-age=30"])),
    CacheRow(
      "max-age=0 asks", "RFC 9111 5.2.1.1", .asks("Cache-Control: max-age=100"),
      .asks(with: ["Cache-Control: max-age=0"])),
    CacheRow(
      "a bad max-age asks", "RFC 9111 4.2.1", .asks("Cache-Control: max-age=100"),
      .asks(with: ["Cache-Control: max-age=soon"])),
    CacheRow(
      "max-age does not lengthen", "RFC 9111 5.2.1.1", .asks("Cache-Control: max-age=10"),
      .asks(after: 20, with: ["Cache-Control: max-age=100"])),
    CacheRow(
      "min-fresh wants it to last", "RFC 9111 5.2.1.3", .asks("Cache-Control: max-age=100"),
      .hits(with: ["Cache-Control: min-fresh=50"]), .asks(after: 60, with: ["Cache-Control: min-fresh=50"])),
    CacheRow(
      "max-stale takes it stale", "RFC 9111 5.2.1.2", .asks("Cache-Control: max-age=10"),
      .hits(after: 20, with: ["Cache-Control: max-stale=20"]), .hits(with: ["Cache-Control: max-stale"]),
      .asks(with: ["Cache-Control: max-stale=5"])),
    CacheRow(
      "max-stale says how stale", "RFC 9111 5.1", .asks("Cache-Control: max-age=10"),
      .hits(after: 20, with: ["Cache-Control: max-stale"], age: 20)),
    CacheRow(
      "not past must-revalidate", "RFC 9111 5.2.2.2", .asks("Cache-Control: max-age=10, must-revalidate"),
      .asks(after: 20, with: ["Cache-Control: max-stale"])),
    CacheRow(
      "a bad max-stale allows nothing", "RFC 9111 5.2.1.2", .asks("Cache-Control: max-age=10"),
      .asks(after: 20, with: ["Cache-Control: max-stale=x"])),
    CacheRow(
      "only-if-cached stays offline", "RFC 9111 5.2.1.7",
      Visit(with: ["Cache-Control: only-if-cached"], sees: .error(.notCached)),
      .asks("Cache-Control: max-age=10"), .hits(with: ["Cache-Control: only-if-cached"]),
      Visit(after: 20, with: ["Cache-Control: only-if-cached"], sees: .error(.notCached))),
    CacheRow(
      "no-transform changes nothing", "RFC 9111 5.2.1.6", .asks("Cache-Control: max-age=100"),
      .hits(with: ["Cache-Control: no-transform"])),
    CacheRow(
      "unknown ones change nothing", "RFC 9111 5.2.3", .asks("Cache-Control: max-age=100"),
      .hits(with: ["Cache-Control: foo=bar"])),
  ]

  static let responseDirectives: [CacheRow] = [
    .unstored("no-store is not kept", "RFC 9111 5.2.2.5", "Cache-Control: no-store"),
    .unstored("whatever else is said", "RFC 9111 5.2.2.5", "Cache-Control: max-age=100, no-store, public"),
    .unstored(
      "nor in a line of its own", "RFC 9111 5.2.2.5", "Cache-Control: max-age=100", "Cache-Control: no-store"),
    CacheRow(
      "no-store takes the place of what is held", "RFC 9111 4", .asks("Cache-Control: max-age=10"),
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
      Visit(after: 20, policy: .preferCached, answer: ["Cache-Control: max-age=10"])),
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
