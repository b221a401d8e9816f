import NetSpool

/// One resource, several answers.
extension CacheRows {
  /// Whether two requests choose the same answer.
  private static func pair(
    _ rule: String, _ source: String, vary: String, _ first: [String], _ second: [String], same: Bool
  ) -> CacheRow {
    CacheRow(
      rule, source, .asks(lasting, "Vary: \(vary)", with: first),
      same ? .hits(with: second, bodyOf: 1) : .asks(lasting, "Vary: \(vary)", with: second))
  }

  static let vary: [CacheRow] = [
    pair("the same value", "RFC 9111 4.1", vary: "Foo", ["Foo: 1"], ["Foo: 1"], same: true),
    pair("another value", "RFC 9111 4.1", vary: "Foo", ["Foo: 1"], ["Foo: 2"], same: false),
    pair("a missing value", "RFC 9111 4.1", vary: "Foo", ["Foo: 1"], [], same: false),
    pair("a value that was missing", "RFC 9111 4.1", vary: "Foo", [], ["Foo: 1"], same: false),
    pair("missing in both", "RFC 9111 4.1", vary: "Foo", [], [], same: true),
    pair("a field that is not named", "RFC 9111 4.1", vary: "Foo", ["Bar: 1"], ["Bar: 2"], same: true),
    pair("names know no case", "RFC 9110 12.5.5", vary: "fOO", ["Foo: 1"], ["FOO: 1"], same: true),
    pair("values do", "RFC 9111 4.1", vary: "Foo", ["Foo: a"], ["Foo: A"], same: false),
    pair(
      "two fields, both the same", "RFC 9111 4.1", vary: "Foo, Bar", ["Foo: 1", "Bar: 2"],
      ["Bar: 2", "Foo: 1"], same: true),
    pair(
      "two fields, one differs", "RFC 9111 4.1", vary: "Foo, Bar", ["Foo: 1", "Bar: 2"],
      ["Foo: 1", "Bar: 3"], same: false),
    pair(
      "two fields, exchanged", "RFC 9111 4.1", vary: "Foo, Bar", ["Foo: 1", "Bar: 2"], ["Foo: 2", "Bar: 1"],
      same: false),
    pair(
      "two lines are a list", "RFC 9110 5.3", vary: "Foo", ["Foo: 1", "Foo: 2"], ["Foo: 1, 2"], same: true),
    pair("blanks around commas", "RFC 9111 4.1", vary: "Foo", ["Foo: 1, 2"], ["Foo: 1 ,2"], same: true),
    pair("order is meant", "RFC 9111 4.1", vary: "Foo", ["Foo: 1, 2"], ["Foo: 2, 1"], same: false),
    pair(
      "languages know no case", "RFC 9110 12.5.4", vary: "Accept-Language", ["Accept-Language: EN"],
      ["Accept-Language: en"], same: true),
    pair(
      "other languages", "RFC 9110 12.5.4", vary: "Accept-Language", ["Accept-Language: en"],
      ["Accept-Language: de"], same: false),
    pair("empty elements of Vary", "RFC 9110 5.6.1", vary: ", Foo,, ", ["Foo: 1"], ["Foo: 2"], same: false),
    pair("codings asked for by default", "RFC 9110 12.5.3", vary: "Accept-Encoding", [], [], same: true),
    pair(
      "codings of the caller's own", "RFC 9110 12.5.3", vary: "Accept-Encoding",
      ["Accept-Encoding: identity"], [], same: false),
    pair("an empty value is a value", "RFC 9111 4.1", vary: "Foo", ["Foo:"], [], same: false),
    pair("blanks within a value", "RFC 9111 4.1", vary: "Foo", ["Foo: a b"], ["Foo: ab"], same: false),
    pair("an empty element is one", "RFC 9111 4.1", vary: "Foo", ["Foo: 1,"], ["Foo: 1"], same: false),
    pair(
      "commas within quotes", "RFC 9110 5.6.4", vary: "Foo", ["Foo: \"a, b\""], ["Foo: \"a,b\""], same: false),
    pair(
      "what is no list is text", "RFC 9110 10.1.5", vary: "User-Agent", ["User-Agent: a, b"],
      ["User-Agent: a,b"], same: false),
    .unstored("a star fits nobody", "RFC 9111 4.1", lasting, "Vary: *"),
    .unstored("a star in a list", "RFC 9111 4.1", lasting, "Vary: Foo, *"),
    .unstored("a star in a second line", "RFC 9111 4.1", lasting, "Vary: Foo", "Vary: *"),
    .unstored("what is no name", "RFC 9111 4.1", lasting, "Vary: a b"),
    CacheRow(
      "names in several lines", "RFC 9110 5.3",
      .asks(lasting, "Vary: Foo", "Vary: Bar", with: ["Foo: 1", "Bar: 1"]),
      .asks(lasting, "Vary: Foo", "Vary: Bar", with: ["Foo: 1", "Bar: 2"]),
      .hits(with: ["Foo: 1", "Bar: 1"], bodyOf: 1)),
  ]

  static let variants: [CacheRow] = [
    CacheRow(
      "variants live side by side", "RFC 9111 4.1", .asks(lasting, "Vary: Foo", with: ["Foo: 1"]),
      .asks(lasting, "Vary: Foo", with: ["Foo: 2"]), .asks(lasting, "Vary: Foo", with: ["Foo: 3"]),
      .hits(with: ["Foo: 1"], bodyOf: 1), .hits(with: ["Foo: 2"], bodyOf: 2),
      .hits(with: ["Foo: 3"], bodyOf: 3)),
    CacheRow(
      "each lasts by itself", "RFC 9111 4.1", .asks(short, "Vary: Foo", with: ["Foo: 1"]),
      .asks(lasting, "Vary: Foo", with: ["Foo: 2"]), .asks(lasting, "Vary: Foo", after: 20, with: ["Foo: 1"]),
      .hits(with: ["Foo: 2"], bodyOf: 2), .hits(with: ["Foo: 1"], bodyOf: 3)),
    CacheRow(
      "each is asked about with its own validator", "RFC 9111 4.3.1",
      .asks(short, "Vary: Foo", "ETag: \"1\"", with: ["Foo: 1"]),
      .asks(short, "Vary: Foo", "ETag: \"2\"", with: ["Foo: 2"]),
      .confirms("ETag: \"1\"", after: 20, with: ["Foo: 1"], sends: ["If-None-Match: \"1\""], bodyOf: 1),
      .confirms("ETag: \"2\"", with: ["Foo: 2"], sends: ["If-None-Match: \"2\""], bodyOf: 2)),
    CacheRow(
      "the latest answer says what chooses", "RFC 9111 4.1",
      .asks(short, "Vary: Foo", with: ["Foo: 1", "Bar: 1"]),
      .asks(lasting, "Vary: Bar", after: 20, with: ["Foo: 1", "Bar: 1"]),
      .hits(with: ["Foo: 2", "Bar: 1"], bodyOf: 2), .asks(lasting, "Vary: Bar", with: ["Foo: 1", "Bar: 2"])),
    CacheRow(
      "answers that vary by more and by less live side by side", "RFC 9111 4.1",
      .asks(lasting, "Vary: Foo", with: ["Foo: 1", "Bar: 1"]),
      .asks(lasting, "Vary: Foo, Bar", with: ["Foo: 2", "Bar: 1"]),
      .asks(lasting, "Vary: Foo", with: ["Foo: 3", "Bar: 1"]), .hits(with: ["Foo: 1", "Bar: 2"], bodyOf: 1),
      .hits(with: ["Foo: 2", "Bar: 1"], bodyOf: 2), .hits(with: ["Foo: 3"], bodyOf: 3),
      .asks(lasting, "Vary: Foo, Bar", with: ["Foo: 2", "Bar: 2"]), .hits(with: ["Foo: 1"], bodyOf: 1)),
    CacheRow(
      "the youngest of two that fit", "RFC 9111 4.1", .asks(short, "Vary: Foo", with: ["Foo: 1", "Bar: 1"]),
      .asks(lasting, "Vary: Foo, Bar", after: 20, with: ["Foo: 1", "Bar: 1"]),
      .hits(with: ["Foo: 1", "Bar: 1"], bodyOf: 2)),
    CacheRow(
      "no Connection takes Vary away", "RFC 9110 7.6.1",
      .asks(lasting, "Vary: Foo", "Connection: Vary", with: ["Foo: 1"]),
      .asks(lasting, "Vary: Foo", "Connection: Vary", with: ["Foo: 2"]), .hits(with: ["Foo: 1"], bodyOf: 1)),
    CacheRow(
      "nor does Cache-Control", "RFC 9111 5.2.2.4",
      .asks("Cache-Control: max-age=100, no-cache=\"Vary\"", "Vary: Foo", with: ["Foo: 1"]),
      .asks("Cache-Control: max-age=100, no-cache=\"Vary\"", "Vary: Foo", with: ["Foo: 2"]),
      .hits(with: ["Foo: 1"], bodyOf: 1)),
    CacheRow(
      "an answer that does not vary takes the place of all", "RFC 9111 4.1",
      .asks(short, "Vary: Foo", with: ["Foo: 1"]),
      .asks(lasting, after: 20, with: ["Foo: 1"]), .hits(with: ["Foo: 2"], bodyOf: 2), .hits(bodyOf: 2)),
    CacheRow(
      "one that varies takes the place of one that does not", "RFC 9111 4.1", .asks(short),
      .asks(lasting, "Vary: Foo", after: 20, with: ["Foo: 1"]), .asks(lasting, "Vary: Foo", with: ["Foo: 2"]),
      .hits(with: ["Foo: 1"], bodyOf: 2)),
    CacheRow(
      "a variant leaves a default answer, which fits what no variant fits", "RFC 9111 4.1", .asks(lasting),
      .asks(lasting, "Vary: Foo", after: 1, with: ["Foo: 1"], policy: .reload),
      .isHeld(with: ["Foo: 1"], bodyOf: 2), .isHeld(bodyOf: 1), .isHeld(with: ["Foo: 2"], bodyOf: 1)),
    CacheRow(
      "a default answer hides no younger variant from requests with nothing but the URL", "RFC 9111 4.1",
      .asks(lasting, after: 1, policy: .reload), .asks(lasting, policy: .reload),
      .asks(lasting, policy: .reload), .hits(), .hits(), .hits(),
      .asks(lasting, "Vary: Foo", after: 1, policy: .reload), .hits(), .hits(), .hits()),
    CacheRow(
      "nor when a variant came first", "RFC 9111 4.1", .asks(lasting, "Vary: Foo"),
      .asks(lasting, after: 1, policy: .reload), .asks(lasting, policy: .reload),
      .asks(lasting, policy: .reload), .hits(), .hits(), .hits(),
      .asks(lasting, "Vary: Foo", after: 1, policy: .reload), .hits(), .hits(), .hits()),
    CacheRow(
      "an unsafe request takes all variants away", "RFC 9111 4.4",
      .asks(lasting, "Vary: Foo", with: ["Foo: 1"]),
      .asks(lasting, "Vary: Foo", with: ["Foo: 2"]), Visit(method: "POST"), .isMissing(with: ["Foo: 1"]),
      .isMissing(with: ["Foo: 2"])),
    CacheRow(
      "Vary is served with the answer", "RFC 9110 12.5.5", .asks(lasting, "Vary: Foo"),
      .hits(shows: ["Vary: Foo"])),
    CacheRow(
      "secrets choose as well", "RFC 9111 4.1", .asks(lasting, "Vary: X-Api-Key", with: ["X-Api-Key: 1"]),
      .asks(lasting, "Vary: X-Api-Key", with: ["X-Api-Key: 2"]), .hits(with: ["X-Api-Key: 1"], bodyOf: 1)),
  ]
}
