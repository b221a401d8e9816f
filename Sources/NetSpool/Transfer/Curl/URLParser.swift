internal import CNetSpoolCurl

/// The one judge of URLs: libcurl's own parser (curl_url_set(3)), so that what is checked is what is sent.
enum URLParser {
  /// The canonical pieces of an absolute http or https URL: lower-case scheme and host, the default port
  /// left out, dot segments removed, spaces and non-ASCII percent-encoded, no fragment.
  static func parse(_ text: String, relativeTo base: String? = nil) throws(NetworkError) -> ParsedURL {
    guard text.utf8.count <= 8192 else { throw refused("longer than 8 KiB") }
    guard !text.utf8.contains(where: \.isControl) else { throw refused("a control byte") }
    guard let handle = unsafe curl_url() else { throw NetworkError(.outOfMemory) }
    defer { unsafe curl_url_cleanup(handle) }
    if let base { unsafe try set(handle, base) }
    unsafe try set(handle, text)
    return unsafe try pieces(handle)
  }

  private static func set(_ handle: OpaquePointer, _ text: String) throws(NetworkError) {
    let code = unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_URLENCODE))
    guard code == CURLUE_OK else {
      throw refused(unsafe String(cString: curl_url_strerror(code)))
    }
  }

  private static func pieces(_ handle: OpaquePointer) throws(NetworkError) -> ParsedURL {
    let scheme = unsafe part(handle, CURLUPART_SCHEME)?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw refused("scheme \(scheme) is not http or https")
    }
    guard let host = unsafe part(handle, CURLUPART_HOST)?.lowercased(), !host.isEmpty else {
      throw refused("no host")
    }
    // An escape that is left would be undone when the URL is parsed once more, by whoever sends it.
    guard !host.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x5C || $0 == 0x25 }) else {
      throw refused("the host holds a space, a backslash, an escape or a non-ASCII letter")
    }
    // libcurl writes such an address out, `0x7f.1` as 127.0.0.1, unless an escape hid it: then the next parser does.
    guard !PlainURL.isUnwrittenAddress(host) else { throw refused("the host is a number") }
    let port = unsafe part(handle, CURLUPART_PORT).flatMap { Int($0) } ?? (scheme == "https" ? 443 : 80)
    let path = unsafe part(handle, CURLUPART_PATH) ?? "/"
    let query = unsafe part(handle, CURLUPART_QUERY).map { "?" + $0 } ?? ""
    return unsafe ParsedURL(
      pieces: URLPieces(scheme: scheme, host: host, port: port, pathAndQuery: path + query),
      user: part(handle, CURLUPART_USER, CURLU_URLDECODE),
      password: part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE))
  }

  static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
      return nil
    }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }

  private static func refused(_ reason: String) -> NetworkError { NetworkError(.invalidURL, reason: reason) }
}

/// A URL taken apart. Userinfo is kept aside: it becomes a credential and is never part of a text.
struct ParsedURL: Sendable {
  var pieces: URLPieces
  var user: String?
  var password: String?
}

/// Reads what a user calls a proxy.
enum ProxyParser {
  private static let schemes = ["http", "https", "socks5h"]

  /// `http://`, `https://` or `socks5h://[user:password@]host[:port]`; without a scheme it is http, as with curl.
  ///
  /// Throws `invalidConfiguration` (proxy) for anything else.
  static func parse(_ text: String) throws(NetworkError) -> ProxySettings {
    guard text.utf8.count <= 8192, !text.utf8.contains(where: \.isControl), let handle = unsafe curl_url()
    else {
      throw invalid
    }
    defer { unsafe curl_url_cleanup(handle) }
    let whole = text.contains("://") ? text : "http://" + text
    guard unsafe curl_url_set(handle, CURLUPART_URL, whole, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
      let scheme = unsafe URLParser.part(handle, CURLUPART_SCHEME), schemes.contains(scheme),
      let host = unsafe URLParser.part(handle, CURLUPART_HOST), !host.isEmpty,
      unsafe (URLParser.part(handle, CURLUPART_PATH) ?? "/") == "/",
      unsafe URLParser.part(handle, CURLUPART_QUERY) == nil
    else { throw invalid }
    let port = unsafe URLParser.part(handle, CURLUPART_PORT).map { ":" + $0 } ?? defaultPort(scheme)
    var proxy = ProxySettings(url: "\(scheme)://\(host)\(port)")
    if let user = unsafe URLParser.part(handle, CURLUPART_USER, CURLU_URLDECODE) {
      let password = unsafe URLParser.part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE) ?? ""
      proxy.account = ProxySettings.Account(scheme: .basic, user: user, password: Secret(password))
    }
    return proxy
  }

  /// libcurl's own would be 1080 for all but https.
  private static func defaultPort(_ scheme: String) -> String {
    switch scheme {
    case "http": ":80"
    case "https": ":443"
    default: ":1080"
    }
  }

  private static var invalid: NetworkError { NetworkError(.invalidConfiguration, reason: "proxy") }
}
