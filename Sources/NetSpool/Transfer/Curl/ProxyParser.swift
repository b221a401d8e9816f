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
  /// Hosts that are asked directly, in the form of CURLOPT_NOPROXY.
  var exceptions = ""

  /// True if the proxy is told the whole URL of a request over plain HTTP; a SOCKS proxy learns only where to connect to.
  var isHTTP: Bool { url.hasPrefix("http") }

  /// It is spoken to over TLS.
  var isSecure: Bool { url.hasPrefix("https:") }

  /// True if the proxy asks for an answer to its challenge, which libcurl gives by itself.
  var hasRounds: Bool { account.map { $0.scheme != .basic } ?? false }
}
