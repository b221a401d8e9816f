import ArgumentParser
import NetSpool

struct ConnectionOptions: ParsableArguments {
  @Option("proxy") var proxy: String?
  @Option("proxy-user") var proxyUser: String?
  @Option("noproxy") var noproxy: String?
  @Flag("proxy-basic") var proxyBasic = false
  @Flag("insecure") var insecure = false
  @Option("cacert") var cacert: String?
  @Option("capath") var capath: String?
  @Option("cert") var cert: String?
  @Option("key") var key: String?
  @Option("pass") var pass: String?
  @Option("resolve") var resolve: [ResolveRule] = []
  @Option("connect-to") var connectTo: [String] = []
  @Flag(exclusivity: .chooseLast) var family: AddressFamily?
  @Option("unix-socket") var unixSocket: String?
  @Option("interface") var interface: String?
  @Option("connect-timeout") var connectTimeout: TimeSpan?
  @Flag("http1.1") var http11 = false
  @Flag("http2") var http2 = false
  @Flag("http2-prior-knowledge") var http2PriorKnowledge = false
  @Flag("location") var location = true
  @Option("max-redirs") var maxRedirs = Self.redirects

  static let redirects = 10
  /// Even where there is no limit: a server that leads farther leads nowhere.
  private static let redirectsMax = 1_000

  func validate() throws {
    try refuse(http11 && (http2 || http2PriorKnowledge), "--http1.1 and --http2 contradict each other.")
    try refuse(
      !(-1...Self.redirectsMax).contains(maxRedirs),
      "--max-redirs is a number from 0 to \(Self.redirectsMax), or -1.")
    if let interface, interface.contains(":") || interface.allSatisfy({ $0.isASCIIDigit || $0 == "." }) {
      throw ValidationError("--interface is the name of an interface, such as eth0.")
    }
    try refuse(cert == nil && (key != nil || pass != nil), "--key and --pass go with --cert.")
    if let proxyUser, !proxyUser.contains(":") { throw ValidationError("--proxy-user is 'user:password'.") }
    try refuse(proxyUser != nil && proxy?.isEmpty == true, "--proxy-user needs a proxy.")
  }

  func apply(to configuration: inout NetworkEngine.Configuration, _ environment: Environment) {
    configuration.proxy = unixSocket == nil ? way(environment) : nil
    configuration.tls.unsafelyTrustsAnyCertificate = insecure
    configuration.tls.caFile = cacert ?? (capath == nil ? environment["CURL_CA_BUNDLE"] : nil)
    configuration.tls.caPath = capath
    if http11 { configuration.httpVersion = .http1 }
    if http2PriorKnowledge { configuration.httpVersion = .http2PriorKnowledge }
    configuration.resolve = Dictionary(resolve.map { ($0.name, $0.addresses) }) { _, last in last }
    configuration.connectTo = connectTo
    configuration.isIPv4 = family.map { $0 == .ipv4 }
    configuration.unixSocket = unixSocket
    configuration.allowedInterfaces = interface.map { [$0] }
    configuration.redirects = location ? .atMost(redirectsMax) : .none
    if let connectTimeout { configuration.timeouts.connect = .seconds(connectTimeout.seconds) }
  }

  /// 0: none is followed.
  var redirectsMax: Int { location ? maxRedirs < 0 ? Self.redirectsMax : maxRedirs : 0 }

  /// True if a proxy is told who is asking: by an option, or in its URL.
  func namesProxyUser(_ environment: Environment) -> Bool {
    let proxies = proxies(environment)
    return proxyUser != nil || [proxies.plain, proxies.secure].contains { $0?.contains("@") == true }
  }

  /// Nil without a proxy. The tool obeys the environment, as curl does; the library does not by itself.
  private func way(_ environment: Environment) -> NetworkEngine.Proxy? {
    let exceptions = noproxy ?? environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
    let (plain, secure) = proxies(environment)
    guard plain != nil || secure != nil else { return nil }
    let way = NetworkEngine.Proxy(
      plain: plain.map(Self.wholeProxy), secure: secure.map(Self.wholeProxy), exceptions: exceptions)
    guard let proxyUser, let colon = proxyUser.firstIndex(of: ":") else { return way }
    return way.authenticated(
      user: String(proxyUser[..<colon]), password: String(proxyUser[proxyUser.index(after: colon)...]))
  }

  private func proxies(_ environment: Environment) -> (plain: String?, secure: String?) {
    let chosen = proxy.map { $0.isEmpty ? nil : $0 }
    let all = environment["all_proxy"] ?? environment["ALL_PROXY"]
    // HTTP_PROXY is not read: a CGI program gets it from its client.
    let plain = chosen ?? environment["http_proxy"] ?? all
    let secure = chosen ?? environment["https_proxy"] ?? environment["HTTPS_PROXY"] ?? all
    return (plain, secure)
  }

  /// With curl's scheme and port, `http://` and 1080. The proxy looks names up, so `socks5://` is `socks5h://`.
  static func wholeProxy(_ text: String) -> String {
    var text = text.contains("://") ? text : "http://\(text)"
    if text.hasPrefix("socks5://") { text = "socks5h://" + text.dropFirst("socks5://".count) }
    while text.hasSuffix("/") { text.removeLast() }
    let host = text[(text.lastIndex { $0 == "@" || $0 == "/" } ?? text.startIndex)...]
    let hasPort = host.split(separator: "]").last?.contains(":") ?? false
    return hasPort || text.hasPrefix("https://") ? text : "\(text):1080"
  }

  var certificate: NetworkCredentials? {
    guard let cert else { return nil }
    let colon = cert.firstIndex(of: ":")
    let path = String(cert[..<(colon ?? cert.endIndex)])
    let password = colon.map { String(cert[cert.index(after: $0)...]) }
    return .clientCertificate(path: path, key: key, password: password ?? pass)
  }
}

enum AddressFamily: String, EnumerableFlag { case ipv4, ipv6 }

struct ResolveRule: Equatable, Sendable, ExpressibleByArgument {
  /// `host:port`, as the library has it.
  let name: String
  let addresses: [String]

  /// Nil for what is no rule; an address of IPv6 may stand in brackets.
  init?(argument: String) {
    let text = argument.hasPrefix("+") ? argument.dropFirst() : argument[...]
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, let port = Int(parts[1]), (1...65_535).contains(port) else {
      return nil
    }
    name = "\(parts[0]):\(port)"
    addresses = parts[2].split(separator: ",").map {
      $0.hasPrefix("[") && $0.hasSuffix("]") ? String($0.dropFirst().dropLast()) : String($0)
    }
    if addresses.isEmpty { return nil }
  }
}
