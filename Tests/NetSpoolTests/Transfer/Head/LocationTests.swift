import Testing

@testable import NetSpool

/// The Location field before it is resolved.
struct LocationTests {
  private func location(
    _ value: some Collection<UInt8>, status: Int = 302, policy: NetworkRequest.Redirects = .standard
  ) throws(NetworkError) -> String? {
    var fields = Headers()
    fields.append(name: "location".utf8, value: value)
    return try RedirectDecision.location(status: status, fields: fields, policy: policy)
  }

  @Test(arguments: [
    "/path", "path", "?q=%0d%0a", "#f", "//b.example/x", "http://b.example/", "HTTPS://b.example/",
    "/a:b", "./a:b", "/caf\u{E9}", "/with space", "/x%0", "/x%20", "http://u:p@b.example/",
  ])
  func `an ordinary location is taken`(_ text: String) throws { #expect(try location(text.utf8) == text) }

  @Test(arguments: [
    ("", "badLocation(empty)"), ("/\u{1}", "badLocation(control)"), ("/\t", "badLocation(control)"),
    ("/\u{7F}", "badLocation(control)"), ("/x%0d%0aEvil: 1", "badLocation(control)"),
    ("/x%0A", "badLocation(control)"), ("/%00", "badLocation(control)"),
    ("file:///etc/passwd", "redirectRefused(scheme)"),
    ("ftp://b.example/", "redirectRefused(scheme)"),
    ("gopher://b.example/", "redirectRefused(scheme)"),
    ("javascript:alert(1)", "redirectRefused(scheme)"),
    ("DATA:,x", "redirectRefused(scheme)"),
    ("localhost:8080/x", "redirectRefused(scheme)"),
  ])
  func `a bad location is refused`(_ text: String, expected: String) {
    #expect(outcome { _ = try location(text.utf8) } == expected)
  }

  @Test func `bytes that are not UTF-8 are escaped one by one`() throws {
    #expect(try location("/caf".utf8 + [0xE9] + "?x=".utf8 + [0xFF, 0xC3]) == "/caf%E9?x=%FF%C3")
  }

  @Test func `eight KiB are enough`() throws {
    let longest = [UInt8](repeating: UInt8(ascii: "a"), count: 8192)
    #expect(try location(longest)?.utf8.count == 8192)
    #expect(outcome { _ = try location(longest + [0x61]) } == "badLocation(tooLong)")
  }

  @Test func `a redirect without location or without permission is the answer`() throws {
    #expect(try RedirectDecision.location(status: 302, fields: Headers(), policy: .standard) == nil)
    #expect(try location("/x".utf8, policy: .none) == nil)
    #expect(try location("file:///x".utf8, policy: .none) == nil)
  }

  @Test func `two locations must agree`() throws {
    var fields = Headers()
    fields.append(name: "Location", value: "/a")
    fields.append(name: "location", value: "/a")
    #expect(try RedirectDecision.location(status: 301, fields: fields, policy: .standard) == "/a")
    fields.append(name: "Location", value: "/b")
    let said = outcome {
      _ = try RedirectDecision.location(status: 301, fields: fields, policy: .standard)
    }
    #expect(said == "badLocation(repeated)")
  }
}
