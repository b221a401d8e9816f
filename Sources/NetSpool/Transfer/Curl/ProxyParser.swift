internal import CNetSpoolCurl

/// Reads what a user calls a proxy.
enum ProxyParser {
  private static let schemes = ["http", "https", "socks5h"]

  /// `http://`, `https://` or `socks5h://[user:password@]host[:port]`; without a scheme it is http, as with curl.
  ///
  /// Throws `invalidConfiguration` (proxy) for anything else.
  static func parse(_ text: String) throws(NetworkError) -> ProxySettings {
    guard text.utf8.count <= 8192, !text.utf8.contains(where: \.isControl), let handle = unsafe curl_url()
    else { throw invalid }
    defer { unsafe curl_url_cleanup(handle) }
    let whole = text.contains("://") ? text : "http://" + text
    guard unsafe curl_url_set(handle, CURLUPART_URL, whole, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
      let scheme = unsafe part(handle, CURLUPART_SCHEME), schemes.contains(scheme),
      let host = unsafe part(handle, CURLUPART_HOST), !host.isEmpty,
      unsafe (part(handle, CURLUPART_PATH) ?? "/") == "/",
      unsafe part(handle, CURLUPART_QUERY) == nil
    else { throw invalid }
    let port = unsafe part(handle, CURLUPART_PORT).map { ":" + $0 } ?? defaultPort(scheme)
    var proxy = ProxySettings(url: "\(scheme)://\(host)\(port)")
    if let user = unsafe part(handle, CURLUPART_USER, CURLU_URLDECODE) {
      let password = unsafe part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE) ?? ""
      proxy.account = ProxySettings.Account(scheme: .basic, user: user, password: Secret(password))
    }
    return proxy
  }

  /// A part of a URL that libcurl has taken apart; nil where it has none.
  static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
      return nil
    }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }

  /// libcurl's own would be 1080 for all but https.
  private static func defaultPort(_ scheme: String) -> String {
    switch scheme {
    case "http": ":80"
    case "https": ":443"
    default: ":1080"
    }
  }

  private static var invalid: NetworkError { NetworkError(.invalidConfiguration, cause: .proxy) }
}

/// A proxy, and who we are to it.
struct ProxySettings: Sendable, Hashable {
  struct Account: Sendable, Hashable {
    var scheme: NetworkEngine.Proxy.Authentication
    var user: String
    var password: Secret
  }

  /// `scheme://host:port`, without user name and password.
  var url: String
  var account: Account?
  /// Hosts that are asked directly, in the form of CURLOPT_NOPROXY. libcurl is not told: `excepts` decides.
  var exceptions = ""

  /// True if the proxy is told the whole URL of a request over plain HTTP; a SOCKS proxy learns only where to connect to.
  var isHTTP: Bool { url.hasPrefix("http") }

  /// It is spoken to over TLS.
  var isSecure: Bool { url.hasPrefix("https:") }

  /// True if the proxy asks for an answer to its challenge, which libcurl gives by itself.
  var hasRounds: Bool { account.map { $0.scheme != .basic } ?? false }

  /// True for an origin that is asked directly (CURLOPT_NOPROXY(3)): `*` is all, a name also those below it,
  /// and an address is itself or a block (`10.0.0.0/8`).
  func excepts(_ origin: URLPieces.Origin) -> Bool {
    if exceptions.isEmpty || exceptions == "*" { return !exceptions.isEmpty }
    let name = origin.host.hasSuffix(".") ? origin.host.dropLast() : origin.host[...]
    let address = InternetAddress(host: name)
    return exceptions.lowercased().split { $0 == "," || $0.isWhitespace }.contains { entry in
      address.map { $0.isWithin(entry) } ?? Self.isName(name, within: entry)
    }
  }

  private static func isName(_ name: Substring, within entry: Substring) -> Bool {
    var domain = entry.hasPrefix(".") ? entry.dropFirst() : entry
    if domain.hasSuffix(".") { domain = domain.dropLast() }
    return !domain.isEmpty && (name == domain || name.hasSuffix(".\(domain)"))
  }
}

extension InternetAddress {
  /// Of a host in a URL, without its brackets and its zone; nil for a name.
  fileprivate init?(host: Substring) {
    let bare = String(host.filter { $0 != "[" && $0 != "]" }.prefix { $0 != "%" })
    guard let address = unsafe bare.withCString({ unsafe InternetAddress(text: $0) }) else { return nil }
    self = address
  }

  /// In a block, `ADDRESS/BITS`, or the address that is written there.
  fileprivate func isWithin(_ block: Substring) -> Bool {
    let parts = block.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let base = InternetAddress(host: parts[0]), base.bytes.count == bytes.count else { return false }
    let width = 8 * bytes.count
    let bits = parts.count == 1 ? width : Int(parts[1]) ?? -1
    guard (0...width).contains(bits) else { return false }
    let (whole, rest) = (bits / 8, bits % 8)
    guard base.bytes.prefix(whole) == bytes.prefix(whole) else { return false }
    return rest == 0 || (base.bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0
  }
}
