import Testing

@testable import NetSpool

/// The short way past libcurl's parser must never say anything else than the long one.
struct PlainURLTests {
  @Test(arguments: [
    ("http://a/", 8), ("https://a/b?c=d", 9), ("http://127.0.0.1:80/x", 19), ("http://a/b/c.d/e", 8),
  ]) func `plain ones are split at the path`(url: String, length: Int) {
    #expect(PlainURL.originLength(url) == length)
    #expect(PlainURL.targetOffset(url) == length)
  }

  @Test(arguments: [
    "", "http", "http://", "http://a", "http:///a", "ftp://a/b", "http://a/b#c", "http://a/b c", "http://a/ä",
    "http://a/./b", "http://a/../b", "http://a/b/.", "http://a/\"", "http://a/\\b", "http://a/{b}",
    "http://a/\u{7F}", "http://a?b", "http://a?b/c", "http://a#b/", "http://u@a/b", "http://a\\b/c",
    "http://a/" + String(repeating: "b", count: 8192),
  ]) func `whatever needs care goes the long way`(url: String) { #expect(PlainURL.originLength(url) == nil) }

  @Test(arguments: [
    ("http://a/b", true), ("http://a/", true), ("http://a", false), ("http://ab/c", false),
    ("http://a:80/c", false), ("http://a.b/c", false), ("http://a@b/c", false), ("http://b/c", false),
    ("http://a?b/", false), ("http://a/../b", false), ("http://a/b c", false), ("", false),
  ]) func `a connection that goes on from a known origin is told by its beginning`(url: String, goesOn: Bool)
  {
    #expect(PlainURL.goesOn(url, from: "http://a") == goesOn)
  }

  @Test(arguments: ["http://a.example:8080", "https://abcdefgh", "http://a"])
  func `every byte of it counts`(origin: String) {
    #expect(PlainURL.goesOn(origin + "/b", from: origin))
    for index in origin.utf8.indices {
      let other = "\(origin[..<index])~\(origin[origin.utf8.index(after: index)...])"
      #expect(!PlainURL.goesOn(other + "/b", from: origin), "\(other)")
    }
  }

  @Test(arguments: [
    "hTTp://a/b", "httpS://a/b", "http://A/b", "http://a:80/b", "https://a:443/b", "http://1.2.3/b",
    "http://a.0x7f/b", "http://01.2.3.4/b", "http://a:080/b", "http://a{b/b", "http://a`b/b",
  ]) func `what has another spelling, or is no host, is not canonical`(url: String) {
    #expect(PlainURL.canonicalOriginLength(url) == nil)
  }

  @Test(arguments: [253, 254]) func `a host is canonical up to the length that is accepted`(count: Int) {
    let url = "http://\(String(repeating: "a", count: count))/b"
    #expect((PlainURL.canonicalOriginLength(url) == nil) == (count > 253))
    #expect(((try? URLParser.parse(url)) == nil) == (count > 253))
  }
}
