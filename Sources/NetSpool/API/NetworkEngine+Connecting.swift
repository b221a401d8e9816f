internal import Synchronization

extension NetworkEngine {
  /// A proxy between an engine and its origins.
  ///
  /// `http://`, `https://` or `socks5h://` and host and port; names are resolved by the proxy. https origins are reached
  /// through CONNECT, so the proxy sees neither requests nor answers. A user name and password in the URL answer Basic.
  /// Errors of the proxy are `.proxyFailed`: `connect`, `authentication` or `response`.
  public struct Proxy: Sendable, Hashable {
    private var plain: String?
    private var secure: String?
    private var exceptions = ""
    private var account: ProxySettings.Account?

    /// A proxy for everything. Checked when the engine is made: `.invalidConfiguration` (`proxy`).
    public init(_ url: String) { self.init(plain: url, secure: url, exceptions: "") }

    /// A proxy for http and another for https, nil for none, and the hosts that are asked directly.
    package init(plain: String?, secure: String?, exceptions: String) {
      self.plain = plain
      self.secure = secure
      self.exceptions = exceptions
    }

    /// The scheme by which the proxy asks for an account; a single one, whatever it offers.
    public enum Authentication: Sendable, Hashable {
      /// Sends the account with the first request.
      case basic
      /// Sends it on the proxy's challenge.
      case digest
      /// `DOMAIN\user`, on its challenge.
      case ntlm
    }

    /// Adds a user name and password, which go to the proxy only.
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

    /// The proxies that the environment names now: `http_proxy`, `https_proxy`, `HTTPS_PROXY`, `all_proxy`,
    /// `ALL_PROXY`, `no_proxy` and `NO_PROXY`, as curl reads them. `HTTP_PROXY` is not read: a CGI program
    /// gets it from its client.
    public static var environment: Self {
      let all = ProcessEnvironment.value("all_proxy") ?? ProcessEnvironment.value("ALL_PROXY")
      let secure = ProcessEnvironment.value("https_proxy") ?? ProcessEnvironment.value("HTTPS_PROXY")
      return Self(
        plain: ProcessEnvironment.value("http_proxy") ?? all, secure: secure ?? all,
        exceptions: ProcessEnvironment.value("no_proxy") ?? ProcessEnvironment.value("NO_PROXY") ?? "")
    }

    func check() throws(NetworkError) {
      for url in [plain, secure].compactMap(\.self) { _ = try ProxyParser.parse(url) }
    }

    /// Nil when there is none for this scheme.
    func settings(isSecure: Bool) -> ProxySettings? {
      guard let url = isSecure ? secure : plain, var proxy = try? ProxyParser.parse(url) else { return nil }
      if let account { proxy.account = account }
      proxy.exceptions = exceptions
      return proxy
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

extension NetworkEngine {
  /// To which addresses connections may be made. Judged when a socket is opened, after the name was resolved, and
  /// again when a connection is used again; so also for every redirect, and whatever a name, a number or a resolver may
  /// pretend. A refusal is `.egressDenied` before a byte is sent. What the cache holds counts as its origin does: an answer
  /// is served only if the address that it came from is allowed.
  public struct Egress: Sendable {
    private enum Rule: Sendable {
      case any
      case publicOnly
      case custom(number: UInt64, @Sendable (Address) -> Bool)
    }

    private static let lastNumber = Atomic<UInt64>(0)

    private let kind: Rule

    /// Everywhere; the default.
    public static let any = Self(kind: .any)
    /// Only addresses that may belong to anybody on the internet: not this machine, not private and link-local
    /// networks (so not 169.254.169.254), not multicast or reserved ones, in IPv4, IPv6 and IPv4 inside IPv6. For URLs
    /// that others give you.
    public static let publicOnly = Self(kind: .publicOnly)

    /// Your own rule. It runs on the loop thread, and, before the cache answers, on the thread that asks it, and must not
    /// block. Engines share answers that are kept or under way only where they have the very same rule. IPv4 inside IPv6
    /// (`::ffff:10.0.0.5`) comes as IPv4, which the system connects to.
    public static func rule(_ allows: @escaping @Sendable (Address) -> Bool) -> Self {
      Self(kind: .custom(number: lastNumber.add(1, ordering: .relaxed).newValue, allows))
    }

    /// The resolved address of a peer.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
      let internet: InternetAddress
      /// The TCP port.
      public let port: Int

      /// Of an address that is spelled as IPv6, the IPv4 that the system connects to.
      init(internet: InternetAddress, port: Int) {
        (self.internet, self.port) = (internet.unmapped, port)
      }

      /// 4 bytes for IPv4, 16 for IPv6; in network order.
      public var bytes: [UInt8] { internet.bytes }
      /// True when `publicOnly` allows it.
      public var isPublic: Bool { internet.isPublic }
      /// `127.0.0.1`, or eight groups of hexadecimal digits.
      public var description: String { internet.text }
    }

    var isRestricted: Bool { if case .any = kind { false } else { true } }

    /// Tells the caller's rules apart, within this process; nil: it is none.
    var ruleNumber: UInt64? { if case .custom(let number, _) = kind { number } else { nil } }
    /// The caller's, which may say something else each time.
    var isRule: Bool { ruleNumber != nil }

    func allows(_ address: Address) -> Bool {
      switch kind {
      case .any: true
      case .publicOnly: address.isPublic
      case .custom(_, let allows): allows(address)
      }
    }
  }
}
