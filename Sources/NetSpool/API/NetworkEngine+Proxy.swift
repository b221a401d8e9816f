extension NetworkEngine {
  /// What stands between an engine and its origins.
  ///
  /// `http://`, `https://` or `socks5h://` and host and port; names are resolved by the proxy. https origins are reached
  /// through CONNECT, so the proxy sees neither requests nor answers. A user name and password in the URL answer Basic.
  /// Errors of the proxy are `.proxyFailed`: `connect`, `authentication` or `response`.
  public struct Proxy: Sendable, Hashable {
    private var plain: String?
    private var secure: String?
    private var exceptions = ""
    private var account: ProxySettings.Account?

    /// One for everything. Checked when the engine is made: `.invalidConfiguration` (`proxy`).
    public init(_ url: String) {
      plain = url
      secure = url
    }

    private init(plain: String?, secure: String?, exceptions: String) {
      self.plain = plain
      self.secure = secure
      self.exceptions = exceptions
    }

    /// How the proxy asks who we are; one scheme, whatever it offers.
    public enum Authentication: Sendable, Hashable {
      /// With the first request.
      case basic
      /// On its challenge.
      case digest
      /// `DOMAIN\user`, on its challenge.
      case ntlm
    }

    /// With a user name and password, which go to the proxy only.
    public func authenticated(user: String, password: String, by scheme: Authentication = .basic) -> Self {
      var copy = self
      copy.account = ProxySettings.Account(scheme: scheme, user: user, password: Secret(password))
      return copy
    }

    /// Asked directly: host names and addresses, divided by commas (CURLOPT_NOPROXY(3)).
    public func except(_ hosts: String) -> Self {
      var copy = self
      copy.exceptions = hosts
      return copy
    }

    /// What the environment says now: `http_proxy`, `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`, `no_proxy`
    /// and `NO_PROXY`, as curl reads them. `HTTP_PROXY` is not read: a CGI program gets it from its client.
    public static var environment: Self {
      let all = ProcessEnvironment.value("all_proxy") ?? ProcessEnvironment.value("ALL_PROXY")
      let secure = ProcessEnvironment.value("https_proxy") ?? ProcessEnvironment.value("HTTPS_PROXY")
      return Self(
        plain: ProcessEnvironment.value("http_proxy") ?? all, secure: secure ?? all,
        exceptions: ProcessEnvironment.value("no_proxy") ?? ProcessEnvironment.value("NO_PROXY") ?? "")
    }
  }
}

extension NetworkEngine.Proxy: ExpressibleByStringInterpolation {
  /// The URL.
  public init(stringLiteral url: String) { self.init(url) }
}

extension NetworkEngine.Proxy: CustomStringConvertible, CustomReflectable {
  /// The URLs, without secrets.
  public var description: String {
    let urls = plain == secure ? [plain] : [plain, secure]
    return urls.compactMap { $0.map(Redaction.standard.url) }.joined(separator: ", ")
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}

extension NetworkEngine.Proxy {
  func check() throws(NetworkError) {
    for url in [plain, secure] {
      if let url { _ = try ProxyParser.parse(url) }
    }
  }

  /// Nil when there is none for this scheme.
  func settings(isSecure: Bool) -> ProxySettings? {
    guard let url = isSecure ? secure : plain, var proxy = try? ProxyParser.parse(url) else { return nil }
    if let account { proxy.account = account }
    proxy.exceptions = exceptions
    return proxy
  }
}
