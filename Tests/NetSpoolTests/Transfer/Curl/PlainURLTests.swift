import Testing

@testable import NetSpool
@testable import TestSupport

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
  ]) func `whatever needs care goes the long way`(url: String) {
    #expect(PlainURL.originLength(url) == nil)
  }

  @Test(arguments: [
    ("http://a/b", true), ("http://a/", true), ("http://a", false), ("http://ab/c", false),
    ("http://a:80/c", false),
    ("http://a.b/c", false), ("http://a@b/c", false), ("http://b/c", false), ("http://a?b/", false),
    ("http://a/../b", false), ("http://a/b c", false), ("", false),
  ]) func `a connection that goes on from a known origin is told by its beginning`(url: String, goesOn: Bool)
  {
    #expect(PlainURL.goesOn(url, from: "http://a") == goesOn)
  }

  @Test(arguments: ["http://a.example:8080", "https://abcdefgh", "http://a"]) func `every byte of it counts`(
    origin: String
  ) {
    #expect(PlainURL.goesOn(origin + "/b", from: origin))
    for index in origin.utf8.indices {
      let other = "\(origin[..<index])~\(origin[origin.utf8.index(after: index)...])"
      #expect(!PlainURL.goesOn(other + "/b", from: origin), "\(other)")
    }
  }

  @Test func `random URLs are split as libcurl splits them`() throws {
    var random = SplitMix64(seed: 42)
    var plain = 0
    let rounds = LongRun.isOn ? 40_000 : 4_000
    for _ in 0..<rounds {
      let url = Self.randomURL(&random)
      guard let length = PlainURL.originLength(url) else { continue }
      // Given that the long way accepts this authority at all, it must find the same rest, byte for byte.
      let prefix = String(decoding: url.utf8.prefix(length), as: UTF8.self)
      let rest = String(decoding: url.utf8.dropFirst(length), as: UTF8.self)
      guard let origin = try? URLParser.parse(prefix + "/"), origin.user == nil else { continue }
      plain += 1
      let parsed = try URLParser.parse(url)
      #expect(parsed.pieces.pathAndQuery == rest, "\(url)")
      #expect(parsed.pieces.origin == origin.pieces.origin, "\(url)")
    }
    #expect(plain > rounds / 20)
  }

  private static func randomURL(_ random: inout SplitMix64) -> String {
    let schemes = ["http://", "https://", "http:/", "HTTP://", "hxxp://"]
    let hosts = ["a", "a.example", "127.0.0.1", "[::1]", "A.b", "a:80", "a:443", "u@a", "a%41", "a..b", ""]
    let pieces = [
      "/", "//", "a", "b", ".", "..", "?", "&", "=", "%20", "%2e", "%2E%2e", "%", "+", "~", "-", "_", ":",
      "@",
      "!", "$", "'", "(", ")", "*", ",", ";", "#", " ", "ä", "\"", "<", "\\", "|", "^", "[", "]",
    ]
    // Mostly the harmless ones, or nearly nothing would be plain.
    let common = ["/", "a", "b", "?", "&", "=", "%20", "a.b"]
    var url = random.chance(90) ? schemes[0] : schemes.randomElement(using: &random)!
    url += hosts.randomElement(using: &random)!
    if random.chance(95) { url += "/" }
    for _ in 0..<Int.random(in: 0..<12, using: &random) {
      url += (random.chance(90) ? common : pieces).randomElement(using: &random)!
    }
    return url
  }

  /// An escape hides a number from libcurl's own writing out, and others are no address at all.
  @Test(arguments: [
    "http://%39/", "http://%30x7f.1/", "http://a.0x%37f/", "http://256.1.1.1/", "http://1.2.3.4.5/",
    "http://%30177.0.0.1/",
  ]) func `a host that only looks like an address is refused`(url: String) {
    let failure = #expect(throws: NetworkError.self) { try URLParser.parse(url) }
    #expect(failure?.code == .invalidURL)
  }

  @Test(arguments: [
    ("http://0x7f.1/", "127.0.0.1"), ("http://%31.2.3.4/", "1.2.3.4"), ("http://9front/", "9front"),
    ("http://a.0xg/", "a.0xg"), ("http://0x.a/", "0x.a"),
  ]) func `an address is written out, and a name stays`(url: String, host: String) throws {
    #expect(try URLParser.parse(url).pieces.host == host)
  }

  @Test(arguments: [
    "hTTp://a/b", "httpS://a/b", "http://A/b", "http://a:80/b", "https://a:443/b", "http://1.2.3/b",
    "http://a.0x7f/b", "http://01.2.3.4/b", "http://a:080/b",
  ]) func `what has another spelling is not canonical`(url: String) {
    #expect(PlainURL.canonicalOriginLength(url) == nil)
  }

  @Test(arguments: [253, 254]) func `a host is canonical up to the length that is accepted`(count: Int) {
    let url = "http://\(String(repeating: "a", count: count))/b"
    #expect((PlainURL.canonicalOriginLength(url) == nil) == (count > 253))
    #expect(((try? URLParser.parse(url)) == nil) == (count > 253))
  }

  @Test(arguments: [
    ("HTTP://Example.ORG:80/a", "http://example.org/a"), ("https://a:443", "https://a/"),
    ("http://a/b/../c", "http://a/c"), ("http://a/b c", "http://a/b%20c"), ("http://a?b", "http://a/?b"),
    ("http://a/b#c", "http://a/b"), ("http://[::1]:8080/", "http://[::1]:8080/"),
    ("http://u:p@a/b", "http://a/b"),
  ]) func `the long way gives one spelling`(url: String, canonical: String) throws {
    #expect(try URLParser.parse(url).pieces.text == canonical)
  }
}
