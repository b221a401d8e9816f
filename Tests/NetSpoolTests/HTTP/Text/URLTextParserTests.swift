import CNetSpoolCurl
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("URLs as libcurl reads them")
struct URLTextParserTests {
  @Test func `libcurl finds the host, path and query that were put in (seed 7)`() throws {
    var numbers = SplitMix64(seed: 7)
    let hosts = ["h.org", "127.0.0.1", "::1", "2001:db8::2", "[::1]", "a-b.example"]
    for _ in 0..<3000 {
      let host = hosts.randomElement(using: &numbers)!
      let port = Bool.random(using: &numbers) ? Int.random(in: 1...65_535, using: &numbers) : nil
      let text = Self.text(&numbers).filter { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      let path = text.drop { $0 == UInt8(ascii: "/") }
      let value = Self.text(&numbers)
      let made = try URLText.make(
        scheme: "https", host: host, port: port, basePath: "api",
        path: String(decoding: text, as: UTF8.self))
      let url = try URLText.appending([Parameter("q", String(decoding: value, as: UTF8.self))], to: made)
      let parsed = try #require(Self.parts(url), "libcurl refused \(url)")
      #expect(parsed.host == (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host))
      #expect(parsed.port == port.map { "\($0)" })
      let prefix = Array((path.isEmpty ? "/api" : "/api/").utf8)
      #expect(Self.decoded(parsed.path) == prefix + PercentCoding.decode(path, plusIsSpace: false))
      #expect(Self.decoded(parsed.query) == Array("q=".utf8) + value)
    }
  }

  private static func decoded(_ text: String?) -> [UInt8] {
    PercentCoding.decode((text ?? "").utf8, plusIsSpace: false)
  }

  private static func text(_ numbers: inout SplitMix64) -> [UInt8] {
    let alphabet = Array("aZ09/:@?#&=%;+ \\\"'<>^`{|}[]~é😀\u{301}".unicodeScalars)
    var text = ""
    for _ in 0..<Int.random(in: 0...12, using: &numbers) {
      text.unicodeScalars.append(alphabet.randomElement(using: &numbers)!)
    }
    return Array(text.utf8)
  }

  /// The parts of a URL in libcurl's eyes; nil where it refuses it.
  private static func parts(_ url: String) -> (host: String?, port: String?, path: String?, query: String?)? {
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_PATH_AS_IS)
    guard unsafe curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? { unsafe ProxyParser.part(handle, part) }
    return (part(CURLUPART_HOST), part(CURLUPART_PORT), part(CURLUPART_PATH), part(CURLUPART_QUERY))
  }
}
