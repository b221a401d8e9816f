import Testing

@testable import NetSpool

@Suite("URLs as text")
struct URLTextTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var scheme = "https"
    var host: String? = "h.org"
    var port: Int?
    var base = ""
    var path: String?
    var expected: String
    var testDescription: String { expected }
  }

  @Test(arguments: [
    Row(path: nil, expected: "https://h.org/"),
    Row(path: "", expected: "https://h.org/"),
    Row(path: "/", expected: "https://h.org/"),
    Row(path: "a/b", expected: "https://h.org/a/b"),
    Row(path: "/a/b/", expected: "https://h.org/a/b/"),
    Row(path: "//a//b", expected: "https://h.org/a//b"),
    Row(scheme: "http", port: 8080, path: "x", expected: "http://h.org:8080/x"),
    Row(base: "api", path: nil, expected: "https://h.org/api"),
    Row(base: "/api/v1/", path: "/users", expected: "https://h.org/api/v1/users"),
    Row(base: "api/v1", path: "/", expected: "https://h.org/api/v1"),
    Row(base: "///", path: "///", expected: "https://h.org/"),
    Row(path: "s?q=a b&c=é#f", expected: "https://h.org/s?q=a%20b&c=%C3%A9#f"),
    Row(path: "?q", expected: "https://h.org/?q"),
    Row(base: "api", path: "?q", expected: "https://h.org/api?q"),
    Row(path: "a b%20c%", expected: "https://h.org/a%20b%20c%25"),
    Row(host: "::1", port: 80, path: "x", expected: "https://[::1]:80/x"),
    Row(host: "[::1]", path: "x", expected: "https://[::1]/x"),
    Row(host: "fe80::1%eth0", path: nil, expected: "https://[fe80::1%25eth0]/"),
    Row(host: "fe80::1%25eth0", path: nil, expected: "https://[fe80::1%25eth0]/"),
    Row(host: "h.org:81", path: "x", expected: "https://h.org:81/x"),
    Row(path: "/\u{301}", expected: "https://h.org/%CC%81"),
  ])
  func `scheme, host, port, base path and path meet in single slashes`(row: Row) throws {
    let url = try URLText.make(
      scheme: row.scheme, host: row.host, port: row.port, basePath: row.base, path: row.path)
    #expect(url == row.expected)
  }

  @Test(
    arguments: [
      (nil, "x", "noHost"), ("", "x", "noHost"), ("h\r\n", "x", "controlByte"),
      ("h", "a\u{0}b", "controlByte"),
      ("h", "a?b\u{7F}", "controlByte"), ("h", String(repeating: "a", count: 8192), "tooLong"),
    ] as [(String?, String, String)])
  func `what no parser should see is an invalid URL`(host: String?, path: String, reason: String) {
    let failure = failure {
      _ = try URLText.make(scheme: "https", host: host, port: nil, basePath: "", path: path)
    }
    #expect(failure?.code == .invalidURL && failure?.reason == reason)
  }

  @Test func `8 KiB are accepted, one byte more is not`() throws {
    let text = "https://h/" + String(repeating: "a", count: URLText.bytesMax - 10)
    #expect(try URLText.absolute(text) == text)
    #expect(failure { _ = try URLText.absolute(text + "a") }?.reason == "tooLong")
    #expect(failure { _ = try URLText.appending([Parameter("a", "")], to: text) }?.reason == "tooLong")
  }

  @Test(arguments: [
    ("https://h.org/a?b#c", "https://h.org/a?b#c"), ("HTTP://h.org/%7e|^", "HTTP://h.org/%7e|^"),
    ("http://bücher.de", "http://bücher.de"),
    ("http://bücher.de/ü ü?ü#ü", "http://bücher.de/%C3%BC%20%C3%BC?%C3%BC#%C3%BC"),
    ("no scheme", "no scheme"),
  ])
  func `an absolute URL stays as written, but for spaces and non-ASCII behind the host`(
    text: String, expected: String
  ) throws { #expect(try URLText.absolute(text) == expected) }

  @Test(arguments: [("", "empty"), ("http://h/\n", "controlByte"), ("http://h/ü\u{1B}", "controlByte")])
  func `an absolute URL with nothing, or with control bytes, is invalid`(text: String, reason: String) {
    #expect(failure { _ = try URLText.absolute(text) }?.reason == reason)
  }

  @Test(arguments: [
    ("https://h/", "https://h/?a=1&b=x%20%26"), ("https://h", "https://h?a=1&b=x%20%26"),
    ("https://h/?", "https://h/?a=1&b=x%20%26"), ("https://h/?q", "https://h/?q&a=1&b=x%20%26"),
    ("https://h/?q&", "https://h/?q&a=1&b=x%20%26"), ("https://h/#f?g", "https://h/?a=1&b=x%20%26#f?g"),
    ("https://h/?q=1#f", "https://h/?q=1&a=1&b=x%20%26#f"),
  ])
  func `parameters go behind the query and before the fragment`(url: String, expected: String) throws {
    #expect(try URLText.appending([Parameter("a", "1"), Parameter("b", "x &")], to: url) == expected)
    #expect(try URLText.appending([], to: url) == url)
  }
}
