internal import CNetSpoolCurl

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
