internal import Dispatch

/// What you send requests with: one per server you talk to, or one for all.
///
/// It makes operations, sends them through its queue and calls your closures on its delivery target.
/// Operations under way keep what they need alive: letting the last reference to an engine go cancels nothing.
/// Any thread may call anything here.
public final class NetworkEngine: Sendable {
  /// The settings it was made with.
  public let configuration: Configuration
  /// The server that paths belong to; nil when every operation has an absolute URL.
  public let host: String?
  let context: EngineContext

  /// - Parameters:
  ///   - host: a name or an address, without scheme and port; nil for absolute URLs only.
  ///   - configuration: all defaults unless given.
  /// Throws `.invalidConfiguration` for an unusable host, port, header, time limit or proxy.
  public init(host: String? = nil, configuration: Configuration = .init()) throws(NetworkError) {
    self.host = host
    self.configuration = configuration
    try Self.check(host, configuration)
    context = Self.makeContext(host, configuration)
  }

  private static func check(_ host: String?, _ configuration: Configuration) throws(NetworkError) {
    if let option = configuration.timeouts.firstInvalid { throw invalid(option) }
    if let port = configuration.port, !(1...65535).contains(port) { throw invalid("port") }
    do throws(NetworkError) { try HeaderRules.check(configuration.headers) } catch {
      throw invalid("headers")
    }
    guard configuration.receiveBufferBytes >= 1024, configuration.receiveBufferBytes <= 10 << 20 else {
      throw invalid("receiveBufferBytes")
    }
    try configuration.credentials?.check()
    try checkWay(configuration)
    guard let host else {
      // Without an origin of its own they would go to everybody.
      if configuration.credentials != nil { throw invalid("credentials without a host") }
      return
    }
    do throws(NetworkError) {
      let url = try URLText.make(
        scheme: "http", host: host, port: configuration.port, basePath: "", path: nil)
      let parsed = try URLParser.parse(url)
      guard parsed.pieces.pathAndQuery == "/", parsed.user == nil, !host.contains("/") else {
        throw invalid("host")
      }
    } catch { throw invalid("host") }
  }

  private static func checkWay(_ configuration: Configuration) throws(NetworkError) {
    guard let proxy = configuration.proxy else { return }
    try proxy.check()
    let isUsed = proxy.settings(isSecure: true) != nil || proxy.settings(isSecure: false) != nil
    if isUsed, configuration.egress.isRestricted { throw invalid("egress behind a proxy") }
  }

  private static func engineCredential(_ host: String?, _ configuration: Configuration) -> EngineCredential? {
    guard let host, let credentials = configuration.credentials,
      let url = try? URLText.make(
        scheme: configuration.scheme.rawValue, host: host, port: configuration.port, basePath: "", path: nil),
      let parsed = try? URLParser.parse(url)
    else { return nil }
    return EngineCredential(credentials, origin: parsed.pieces.origin.text)
  }

  private static func invalid(_ option: String) -> NetworkError {
    NetworkError(.invalidConfiguration, reason: option)
  }

  private static func makeContext(_ host: String?, _ configuration: Configuration) -> EngineContext {
    var headers = configuration.headers
    if !headers.contains("User-Agent") {
      headers.append(name: "User-Agent", value: "\(ProcessName.token)/\(configuration.applicationVersion)")
    }
    var settings = HandleSettings()
    settings.receiveBufferBytes = configuration.receiveBufferBytes
    settings.tls.authorities = configuration.tls.caFile
    settings.tls.pinnedPublicKey = configuration.tls.pinnedPublicKey
    settings.allowsHTTP2 = configuration.tls.allowsHTTP2
    settings.tls.verifies = !configuration.tls.unsafelyTrustsAnyCertificate
    settings.tls.requiresAlternativeName = configuration.tls.requiresSubjectAlternativeName
    settings.plainProxy = configuration.proxy?.settings(isSecure: false)
    settings.secureProxy = configuration.proxy?.settings(isSecure: true)
    settings.egress = configuration.egress
    settings.keepsCookies = configuration.cookies == .inMemory
    let origin = host.flatMap { home($0, configuration) }
    let name = configuration.storageName
    return EngineContext(
      driver: configuration.queue.driver, target: configuration.delivery.target, headers: headers,
      handleSettings: settings, credential: engineCredential(host, configuration),
      allowsCredentialsInClear: configuration.allowsCredentialsInClear, timeouts: configuration.timeouts,
      retry: configuration.retry,
      redirects: configuration.redirects, limits: configuration.limits, hooks: configuration.hooks,
      home: origin, owner: configuration.queue,
      openFreezing: { driver throws(NetworkError) in
        try FreezeOpening.open(.init(), name: name, host: origin?.text ?? "", driver: driver)
      })
  }

  private static func home(_ host: String, _ configuration: Configuration) -> URLPieces.Origin? {
    let url = try? URLText.make(
      scheme: configuration.scheme.rawValue, host: host, port: configuration.port, basePath: "", path: nil)
    return url.flatMap { try? URLParser.parse($0).pieces.origin }
  }
}

extension NetworkEngine.Delivery {
  fileprivate var target: DeliveryTarget {
    switch self {
    case .serialQueue: .queue(DispatchQueue(label: "netspool.delivery"))
    case .queue(let queue): .queue(queue)
    case .loopThread: .loopThread
    }
  }
}
