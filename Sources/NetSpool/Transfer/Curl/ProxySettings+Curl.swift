internal import CNetSpoolCurl
internal import CNetSpoolShims

extension ProxySettings {
  func apply(to easy: UnsafeMutableRawPointer, _ tls: TLSSettings) {
    // Our fields are for the origin; what goes to the proxy with CONNECT is libcurl's alone.
    unsafe cnetspool_easy_set_long(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    unsafe cnetspool_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXY_SSL_CIPHER_LIST, TLSSettings.ciphers)
    if let authorities = tls.authorities {
      unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXY_CAINFO, authorities)
    }
    guard let account else { return }
    unsafe cnetspool_easy_set_long(easy, CURLOPT_PROXYAUTH, account.scheme.curl)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXYUSERNAME, account.user)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_PROXYPASSWORD, account.password.revealed)
  }
}

extension NetworkEngine.Proxy.Authentication {
  /// One, never CURLAUTH_ANY.
  fileprivate var curl: Int {
    switch self {
    case .basic: Int(cnetspool_auth_basic)
    case .digest: Int(cnetspool_auth_digest)
    case .ntlm: Int(cnetspool_auth_ntlm)
    }
  }
}
