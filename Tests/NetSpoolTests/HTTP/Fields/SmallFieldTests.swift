import Testing

@testable import NetSpool

/// RFC 9110 section 10.2.3.
struct RetryAfterTests {
  static let values: [(String, Double?)] = [
    ("0", 0), ("120", 120), ("3600", 3600), ("3601", 3600), ("99999999999999999999999", 3600),
    ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
    ("Sun, 06 Nov 1999 08:49:37 GMT", 3600), ("Sun Nov  6 08:49:01 1994", 1),
    ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("soon", nil), ("1 ", nil), ("1s", nil),
  ]

  @Test(arguments: values)
  func `seconds or a date up to an hour`(_ text: String, expected: Double?) {
    #expect(RetryAfter.parse(bytes(text), now: 784_111_740) == expected)
  }

  @Test func `an extreme clock does not overflow`() {
    #expect(RetryAfter.parse(bytes("Fri, 31 Dec 9999 23:59:59 GMT"), now: .min) == nil)
    #expect(RetryAfter.parse(bytes("Thu, 01 Jan 1970 00:00:00 GMT"), now: .max / 1000) == 0)
  }
}

/// RFC 9110 section 14.4.
struct ContentRangeTests {
  @Test func `its three forms are read`() {
    #expect(ContentRange.parse(bytes("bytes 0-499/1234")) == ContentRange(range: 0...499, total: 1234))
    #expect(ContentRange.parse(bytes("BYTES 500-500/501")) == ContentRange(range: 500...500, total: 501))
    #expect(ContentRange.parse(bytes("bytes 0-499/*")) == ContentRange(range: 0...499, total: nil))
    #expect(ContentRange.parse(bytes("bytes */1234")) == ContentRange(range: nil, total: 1234))
  }

  @Test(arguments: [
    "", "bytes", "bytes ", "bytes 0-499", "bytes=0-499/1234", "items 0-1/2", "bytes 5-4/10", "bytes 0-10/10",
    "bytes */*", "bytes -5/10", "bytes 5-/10", "bytes 0-4/-1", "bytes +0-4/10", "bytes 0-4/10 ,x",
    "bytes a-b/c",
    "bytes 0-9999999999999999999/99999999999999999999", "bytes 0-4/", "bytes /10", "bytes 0--4/10",
  ])
  func `anything else is refused`(_ text: String) { #expect(ContentRange.parse(bytes(text)) == nil) }
}

/// RFC 9110 section 8.3.1.
struct MediaTypeTests {
  @Test func `type subtype and parameters are read`() throws {
    let type = try #require(MediaType("Text/HTML ;; Charset=\"UTF-\\8\" ; q=a b;x = y"))
    #expect(type.type == "text" && type.subtype == "html")
    #expect(type.charset == "utf-8")
  }

  static let charsets: [(String, String?)] = [
    ("text/plain", nil), ("text/plain;charset=utf-8", "utf-8"), ("text/plain; charset=\"a;b\"", "a;b"),
    ("text/plain; charset=\"unterminated", nil), ("text/plain; =x; charset=a", nil),
    ("text/plain; charset=a; charset=b", "a"), ("text/plain, text/html; charset=x", nil),
    ("text/plain; charset", nil), ("text/plain; charset=", ""),
  ]

  @Test(arguments: charsets)
  func `the first readable charset counts`(_ text: String, charset: String?) throws {
    #expect(try #require(MediaType(text)).charset == charset)
  }

  @Test(arguments: ["", "text", "/html", "text/", "te xt/html", "*", ";charset=x"])
  func `no type and subtype is no media type`(_ text: String) { #expect(MediaType(text) == nil) }
}

/// What would be a second request on the wire is refused here.
struct HeaderRulesTests {
  /// RequestTests say what is none.
  @Test(arguments: ["GET", "PROPFIND", "get", "M-SEARCH", "X!#$%&'*+-.^_`|~9"])
  func `any token is a method`(_ name: String) {
    #expect(outcome { () throws(NetworkError) in try HeaderRules.check(Method(name)) } == nil)
  }

  static let fields: [(String, String, String?)] = [
    ("X-A", "b", nil), ("X-A", "", nil), ("X-A", "tab\tand \u{E9}", nil), ("X-A", " padded ", nil),
    ("", "b", "headerName"), ("X A", "b", "headerName"), ("X:A", "b", "headerName"),
    ("X\r\nA", "b", "headerName"), ("X\u{0}", "b", "headerName"), ("Xé", "b", "headerName"),
    ("X-A", "b\r\nEvil: 1", "headerValue"), ("X-A", "b\n", "headerValue"), ("X-A", "\r", "headerValue"),
    ("X-A", "b\u{0}", "headerValue"), ("X-A", "b\r\n\r\nGET / HTTP/1.1", "headerValue"),
  ]

  @Test(arguments: fields)
  func `a field is one line`(_ name: String, _ value: String, reason: String?) {
    let expected = reason.map { "invalidRequest(\($0))" }
    #expect(
      outcome { () throws(NetworkError) in try HeaderRules.check(name: name, value: value) } == expected)
    // The same when it was appended first and is judged in the block.
    var fields = Headers()
    fields.append(name: "First", value: "1")
    fields.append(name: name, value: value)
    let said = outcome { () throws(NetworkError) in try HeaderRules.check(fields) }
    #expect((said == nil) == (reason == nil), "\(said ?? "accepted")")
    #expect(fields.map(\.name).first == "First", "a malformed block can still be read")
    _ = fields.all(name)
  }
}
