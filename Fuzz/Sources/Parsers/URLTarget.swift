internal import CNetSpoolCurl

@testable import NetSpool

/// URLs: two readings of one must agree, and what is found in a cache is what was asked for.
///
/// Input: a byte of choices, a line of a base URL, and the text.
enum URLTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    let base = input.text()
    guard let text = String(validating: input.rest, as: UTF8.self) else { return }
    if choices & 1 == 0 { checkParsing(text, base: choices & 2 == 0 ? nil : base) }
    if choices & 1 == 1 { checkMaking(path: text, basePath: base) }
  }

  // MARK: Taking apart

  private static func checkParsing(_ text: String, base: String?) {
    guard let url = try? URLParser.parse(text, relativeTo: base) else {
      require(base != nil || PlainURL.canonicalOriginLength(text) == nil, "what is canonical can be parsed")
      return
    }
    check(url.pieces)
    guard base == nil else { return }
    if let end = PlainURL.canonicalOriginLength(text) {
      require(url.pieces.text == text, "a canonical URL is its own text: \(text)")
      require(String(text.utf8.prefix(end)) == url.pieces.origin.text, "and begins with its origin")
    }
    checkPlain(text, url)
  }

  /// What is sent is what was judged: libcurl, asked again without any help, reads the same.
  private static func check(_ pieces: URLPieces) {
    let text = pieces.text
    let host = pieces.host.contains("%") ? pieces.host.prefix { $0 != "%" } + "]" : pieces.host
    require(host == host.lowercased() && !host.isEmpty, "a host is in lower case")
    require(!text.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "it is plain text")
    require(!pieces.pathAndQuery.utf8.contains(UInt8(ascii: "#")), "no fragment is sent")
    let again = try? URLParser.parse(text)
    require(again?.pieces == pieces, "\(text) is read as it was written, not as \(String(describing: again))")
    require(again?.user == nil && again?.password == nil, "no user name is left in a text")
    let curl = CurlURL(text)
    require(curl?.host.lowercased() == host, "libcurl goes to the same host")
    require(curl?.port == String(pieces.port), "libcurl goes to the same port")
    checkKey(pieces)
  }

  /// The short way, for an authority that is known, leads to the same place.
  private static func checkPlain(_ text: String, _ url: ParsedURL) {
    guard let end = PlainURL.originLength(text) else { return }
    let target = String(text.utf8.dropFirst(end)) ?? ""
    require(url.pieces.pathAndQuery == target, "a plain target is sent as it is: \(text)")
  }

  // MARK: Keys

  private static func checkKey(_ pieces: URLPieces) {
    let key = CacheKey.primary(scope: .anonymous, url: pieces, headers: Headers())
    let text = key.dropFirst(CacheKey.prefix(scope: .anonymous).count)
    guard let url = String(validating: text, as: UTF8.self) else { broken("a key tells its URL") }
    require(url.hasPrefix(pieces.origin.text), "a key is of the URL's origin")
    require(CacheKey.concerns(prefix: Array(url.utf8), in: key.rawBytes), "it is found by its URL")
    guard let again = try? URLParser.parse(url) else {
      broken("the URL of a key is one: \(url)")
    }
    require(again.pieces.origin == pieces.origin, "and leads to the same origin")
    let second = CacheKey.primary(scope: .anonymous, url: again.pieces, headers: Headers())
    require(second == key, "normalising twice changes nothing: \(url)")
  }

  // MARK: Putting together

  /// No path leads to another host.
  private static func checkMaking(path: String, basePath: String) {
    guard
      let text = try? URLText.make(
        scheme: "https", host: "host.test", port: 8443, basePath: basePath, path: path)
    else { return }
    require(text.hasPrefix("https://host.test:8443/"), "a path stays behind the authority")
    let parameters = [Parameter(path, basePath), Parameter("b", path)]
    for text in [text, (try? URLText.appending(parameters, to: text)) ?? text] {
      guard let url = try? URLParser.parse(text) else {
        broken("what was put together can be taken apart: \(text)")
      }
      require(url.pieces.host == "host.test" && url.pieces.port == 8443, "it leads to the host: \(text)")
      require(url.user == nil, "and as nobody")
      check(url.pieces)
    }
  }
}

/// libcurl's reading of a URL as it stands.
private struct CurlURL {
  let host: String
  let port: String

  init?(_ text: String) {
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
      let host = unsafe ProxyParser.part(handle, CURLUPART_HOST),
      let port = unsafe ProxyParser.part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT)
    else { return nil }
    self.host = host
    self.port = port
  }
}
