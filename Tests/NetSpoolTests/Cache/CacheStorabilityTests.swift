import Testing

@testable import NetSpool

/// What may be stored (RFC 9111 section 3), and of it which fields (section 3.1).
struct CacheStorabilityTests {
  /// Status and Cache-Control, and whether a private and a shared cache may store the answer.
  static let answers: [(Int, String, Bool, Bool)] = [
    (200, "", true, true), (204, "", true, true), (404, "", true, true), (201, "", false, false),
    (302, "", false, false), (500, "", false, false), (599, "", false, false),
    (302, "max-age=1", true, true), (599, "max-age=1", true, true), (201, "public", true, true),
    (500, "private", true, false), (200, "private", true, false), (200, "private=\"x\"", true, true),
    (302, "s-maxage=1", false, true), (302, "max-age=x", false, false), (302, "public=", false, false),
    (200, "no-store", false, false), (200, "max-age=9, no-store", false, false),
    (200, "no-store, must-understand", true, true),
    (599, "no-store, must-understand, max-age=9", false, false),
    (599, "must-understand, max-age=9", false, false), (404, "must-understand, max-age=9", true, true),
    (100, "max-age=9", false, false), (103, "max-age=9", false, false), (199, "max-age=9", false, false),
    (206, "max-age=9", false, false), (304, "max-age=9", false, false), (416, "max-age=9", false, false),
    (600, "max-age=9", false, false), (0, "max-age=9", false, false), (200, "no-cache", true, true),
  ]

  @Test(arguments: answers)
  func `answer is stored`(_ status: Int, _ value: String, alone: Bool, shared: Bool) {
    let lines = value.isEmpty ? [] : ["Cache-Control: \(value)"]
    #expect((stored(lines, status: status) != nil) == alone)
    #expect((stored(lines, status: status, rules: sharedRules) != nil) == shared)
    #expect((stored(lines, status: status, rules: .relaxed) != nil) == alone)
  }

  @Test func `expires makes any status storable`() {
    #expect(stored(["Expires: \(date(9))"], status: 302) != nil)
    #expect(stored(["Expires: 0"], status: 302)?.isFresh(at: receipt) == false)
  }

  @Test func `requests decide too`() {
    let fresh = ["Cache-Control: max-age=9"]
    #expect(stored(fresh) != nil && stored(fresh, policy: .reload) != nil)
    #expect(stored(fresh, policy: .noStore) == nil && stored(fresh, isComplete: false) == nil)
    #expect(stored(fresh, request: ["Cache-Control: no-store"]) == nil)
    #expect(stored(fresh, request: ["Range: bytes=0-1"]) != nil)
    #expect(stored(fresh, status: 206, request: ["Range: bytes=0-1"]) != nil)
    #expect(stored(fresh + ["Content-Encoding: gzip"], request: ["Range: bytes=0-1"]) == nil)
    #expect(stored(fresh, request: ["If-None-Match: \"a\""]) != nil)
    #expect(stored(fresh, request: ["If-Match: \"a\""]) == nil)
    #expect(stored(fresh, request: ["X-HTTP-Method-Override: DELETE"]) == nil)
    for method in [Method.head, .post, .put, .delete, .options, Method("get"), Method("M-SEARCH")] {
      #expect(stored(fresh, method: method) == nil)
    }
  }

  @Test(arguments: [
    "Vary: *", "Vary: a, *", "Vary: a b",
  ])
  func `never with this field`(_ line: String) {
    for rules in [CacheRules.standard, .relaxed, sharedRules] {
      #expect(stored([line, "Cache-Control: public, max-age=9"], rules: rules) == nil)
    }
  }

  /// RFC 9111 section 7.3.
  @Test(arguments: ["Set-Cookie: a=b", "set-cookie: a", "Set-Cookie2: a=b"])
  func `a cookie is for one cache alone`(_ line: String) throws {
    for rules in [CacheRules.standard, .relaxed] {
      let held = try #require(stored([line, "Cache-Control: max-age=9"], rules: rules))
      #expect(held.headers.contains("set-cookie") || held.headers.contains("set-cookie2"))
    }
    #expect(stored([line, "Cache-Control: public, max-age=9"], rules: sharedRules) == nil)
  }

  /// Vary tells whose answer it is, so nothing takes it away.
  @Test(arguments: ["Connection: Vary", "Cache-Control: max-age=9, no-cache=\"Vary\""])
  func `what varies stays known`(_ line: String) throws {
    let held = try #require(stored([line, "Vary: Foo", "Cache-Control: max-age=9"], request: ["Foo: 1"]))
    #expect(held.headers.all("vary") == ["Foo"] && held.facts.flags.contains(.varies))
  }

  /// RFC 9111 section 3.5.
  @Test(arguments: [
    ("max-age=9", false), ("public, max-age=9", true), ("s-maxage=9", true),
    ("max-age=9, must-revalidate", true),
    ("s-maxage=x, max-age=9", false), ("private, max-age=9", false), ("no-cache, max-age=9", false),
  ])
  func `shared caches ask for permission`(_ value: String, isStored: Bool) {
    let lines = ["Cache-Control: \(value)"]
    #expect((stored(lines, request: ["Authorization: x"], rules: sharedRules) != nil) == isStored)
    #expect(stored(lines, request: ["Authorization: x"]) != nil || value.contains("s-maxage=9"))
  }

  /// Section 3.1: what belongs to the connection or to one exchange stays behind.
  @Test func `fields of the connection are dropped`() throws {
    let lines = [
      "Connection: a, B ,close", "a: 1", "b: 2", "c: 3", "Keep-Alive: x", "Proxy-Authenticate: x",
      "Proxy-Authentication-Info: x", "Proxy-Authorization: x", "Proxy-Connection: x", "TE: x", "Trailer: x",
      "Transfer-Encoding: chunked", "Upgrade: x", "connection: D", "d: 4", "Age: 3",
    ]
    let kept = [
      "Test-Header: x", "X-Test-Header: x", "Content-Foo: x", "Content-Encoding: gzip", "Content-Length: 5",
      "Content-Location: /foo", "Content-MD5: x", "Content-Range: x", "Content-Security-Policy: x",
      "Content-Type: text/plain", "Clear-Site-Data: cookies", "ETag: \"a\"", "Expires: x",
      "Public-Key-Pins: x",
      "X-Frame-Options: deny", "X-XSS-Protection: 1", "WWW-Authenticate: Basic", "Link: a", "Link: b",
      "Date: \(date())", "Cache-Control: max-age=9",
    ]
    let held = try #require(stored(lines + kept))
    #expect(held.headers == fields(["c: 3"] + kept))
  }

  @Test func `fields that Cache-Control names are dropped`() throws {
    let lines = [
      "Cache-Control: max-age=9, no-cache=\"A\", private=\"B\"", "a: 1", "b: 2", "Date: \(date())",
    ]
    #expect(stored(lines)?.headers == fields(lines[0], lines[2], lines[3]))
    #expect(stored(lines)?.hidden == fields(lines[1]))
    #expect(stored(lines, rules: sharedRules)?.headers == fields(lines[0], lines[3]))
  }
}
