/// A proxy, and who we are to it.
struct ProxySettings: Sendable, Hashable {
  struct Account: Sendable, Hashable {
    var scheme: NetworkEngine.Proxy.Authentication
    var user: String
    var password: Secret

    init(scheme: NetworkEngine.Proxy.Authentication, user: String, password: Secret) {
      self.scheme = scheme
      self.user = user
      self.password = password
    }
  }

  /// `scheme://host:port`, without user name and password.
  var url: String
  var account: Account?
  /// Hosts that are asked directly, in the form of CURLOPT_NOPROXY.
  var exceptions = ""

  init(url: String) { self.url = url }

  /// Whether the proxy is told the whole URL of a request over plain HTTP; a SOCKS proxy learns only where to connect to.
  var isHTTP: Bool { url.hasPrefix("http") }

  /// Whether the proxy asks for an answer to its challenge, which libcurl gives by itself.
  var hasRounds: Bool { account.map { $0.scheme != .basic } ?? false }
}
