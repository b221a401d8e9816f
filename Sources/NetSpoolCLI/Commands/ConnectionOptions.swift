import ArgumentParser
import NetSpool

/// How the servers are reached.
struct ConnectionOptions: ParsableArguments {
  @Option(
    name: [.customShort("x"), .long],
    help: ArgumentHelp(
      "Ask by this proxy: [http|https|socks5h://][user:password@]host[:port]; '' for none, whatever http_proxy, "
        + "https_proxy and all_proxy say.", valueName: "proxy"))
  var proxy: String?

  @Option(
    name: [.customShort("U"), .long],
    help: ArgumentHelp("Sign in to the proxy, as 'user:password'.", valueName: "user"))
  var proxyUser: String?

  @Option(
    help: ArgumentHelp(
      "Hosts to ask without a proxy, divided by commas; '*' for all. Default: $no_proxy.", valueName: "hosts")
  )
  var noproxy: String?

  @Flag(
    name: [.customShort("k"), .long], help: "Believe any certificate: whoever is on the way reads everything."
  )
  var insecure = false

  @Option(
    help: ArgumentHelp(
      "Believe the authorities of this file. Default: $CURL_CA_BUNDLE, $SSL_CERT_FILE, or the system's.",
      valueName: "file"), completion: .file())
  var cacert: String?

  @Option(
    help: ArgumentHelp("Believe the authorities in this folder.", valueName: "dir"), completion: .directory)
  var capath: String?

  @Option(
    name: [.customShort("E"), .long],
    help: ArgumentHelp("Show this client certificate, PEM or PKCS#12.", valueName: "file[:password]"),
    completion: .file())
  var cert: String?

  @Option(
    help: ArgumentHelp("The private key of --cert, if it is in a file of its own.", valueName: "file"),
    completion: .file())
  var key: String?

  @Option(help: ArgumentHelp("The password of the key.", valueName: "text"))
  var pass: String?

  @Option(
    help: ArgumentHelp(
      "Connect to this address instead of the host's own. Repeatable.",
      valueName: "host:port:address"))
  var resolve: [ResolveRule] = []

  @Option(
    help: ArgumentHelp("Connect to this socket instead of the network.", valueName: "path"),
    completion: .file())
  var unixSocket: String?

  @Option(help: ArgumentHelp("Connect by this interface of the machine alone: eth0.", valueName: "name"))
  var interface: String?

  @Flag(help: .hidden)
  var proxyBasic = false

  @Option(
    help: ArgumentHelp("Give a connection up after this long: 5s. Default: 10s.", valueName: "time"))
  var connectTimeout: TimeSpan?

  @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1.")
  var http11 = false

  @Flag(help: "Speak HTTP/2 over TLS where the server can. It is so unless told otherwise.")
  var http2 = false

  @Flag(help: "Speak HTTP/2 over plain HTTP as well, without asking first.")
  var http2PriorKnowledge = false

  @Flag(
    name: [.customShort("L"), .long], inversion: .prefixedNo,
    help: "Follow redirects. It is so unless told otherwise.")
  var location = true

  @Option(help: ArgumentHelp("Follow at most this many redirects; -1: as many as it takes.", valueName: "n"))
  var maxRedirs = Self.redirects

  static let redirects = 10
  /// Even where there is no limit: whoever leads farther leads nowhere.
  private static let redirectsMax = 1_000

  func validate() throws {
    if http11 && (http2 || http2PriorKnowledge) {
      throw ValidationError("--http1.1 and --http2 contradict each other.")
    }
    guard (-1...Self.redirectsMax).contains(maxRedirs) else {
      throw ValidationError("--max-redirs is a number from 0 to \(Self.redirectsMax), or -1.")
    }
    if let interface, interface.contains(":") || interface.allSatisfy({ $0.isASCIIDigit || $0 == "." }) {
      throw ValidationError("--interface is the name of an interface, such as eth0.")
    }
    if cert == nil, key != nil || pass != nil { throw ValidationError("--key and --pass go with --cert.") }
    if let proxyUser, !proxyUser.contains(":") {
      throw ValidationError("--proxy-user is 'user:password'.")
    }
    if proxyUser != nil, proxy?.isEmpty == true {
      throw ValidationError("--proxy-user needs a proxy.")
    }
  }
}

/// A `--resolve host:port:address[,address]`.
struct ResolveRule: Equatable, Sendable, ExpressibleByArgument {
  let host: String
  let port: Int
  let addresses: [String]

  /// Nil for what is no rule; an address of IPv6 may stand in brackets.
  init?(argument: String) {
    let text = argument.hasPrefix("+") ? argument.dropFirst() : argument[...]
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, let port = Int(parts[1]), (1...65_535).contains(port) else {
      return nil
    }
    (host, self.port) = (String(parts[0]), port)
    addresses = parts[2].split(separator: ",").map {
      $0.hasPrefix("[") && $0.hasSuffix("]") ? String($0.dropFirst().dropLast()) : String($0)
    }
    if addresses.isEmpty { return nil }
  }

  /// As it is written.
  var text: String {
    "\(name):\(addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ","))"
  }

  /// As the library has it.
  fileprivate var name: String { "\(host):\(port)" }
}

// MARK: What they say

extension ConnectionOptions {
  /// Sets what an engine needs to know of them.
  func apply(to configuration: inout NetworkEngine.Configuration, _ environment: Environment) {
    configuration.proxy = way(environment)
    configuration.tls.unsafelyTrustsAnyCertificate = insecure
    configuration.tls.caFile = cacert ?? (capath == nil ? environment["CURL_CA_BUNDLE"] : nil)
    configuration.tls.caPath = capath
    if http11 { configuration.httpVersion = .http1 }
    if http2PriorKnowledge { configuration.httpVersion = .http2PriorKnowledge }
    configuration.resolve = Dictionary(resolve.map { ($0.name, $0.addresses) }) { _, last in last }
    configuration.unixSocket = unixSocket
    configuration.allowedInterfaces = interface.map { [$0] }
    if unixSocket != nil { configuration.proxy = nil }
    configuration.redirects = location ? .atMost(maxRedirs < 0 ? Self.redirectsMax : maxRedirs) : .none
    if let connectTimeout { configuration.timeouts.connect = .seconds(connectTimeout.seconds) }
  }

  /// Whether a proxy is told who is asking: by an option, or in its URL.
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
      plain: plain.map(ProxyText.whole), secure: secure.map(ProxyText.whole), exceptions: exceptions)
    guard let proxyUser, let colon = proxyUser.firstIndex(of: ":") else { return way }
    return way.authenticated(
      user: String(proxyUser[..<colon]), password: String(proxyUser[proxyUser.index(after: colon)...]))
  }

  /// As people write them.
  private func proxies(_ environment: Environment) -> (plain: String?, secure: String?) {
    let chosen = proxy.map { $0.isEmpty ? nil : $0 }
    let all = environment["all_proxy"] ?? environment["ALL_PROXY"]
    // HTTP_PROXY is not read: a CGI program gets it from its client.
    let plain = chosen ?? environment["http_proxy"] ?? all
    let secure = chosen ?? environment["https_proxy"] ?? environment["HTTPS_PROXY"] ?? all
    return (plain, secure)
  }

  /// Nil without `--cert`.
  var certificate: NetworkCredentials? {
    guard let cert else { return nil }
    let colon = cert.firstIndex(of: ":")
    let path = String(cert[..<(colon ?? cert.endIndex)])
    let password = colon.map { String(cert[cert.index(after: $0)...]) }
    return .clientCertificate(path: path, key: key, password: password ?? pass)
  }
}

/// A proxy as people write it.
enum ProxyText {
  /// With the scheme and the port that curl takes for granted: `http://` and 1080. Names are looked up by the proxy,
  /// so `socks5://` is `socks5h://`.
  static func whole(_ text: String) -> String {
    var text = text.contains("://") ? text : "http://\(text)"
    if text.hasPrefix("socks5://") { text = "socks5h://" + text.dropFirst("socks5://".count) }
    while text.hasSuffix("/") { text.removeLast() }
    let host = text[(text.lastIndex { $0 == "@" || $0 == "/" } ?? text.startIndex)...]
    let hasPort = host.split(separator: "]").last?.contains(":") ?? false
    return hasPort || text.hasPrefix("https://") ? text : "\(text):1080"
  }
}
