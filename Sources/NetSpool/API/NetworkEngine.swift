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
    do throws(Failure) {
      try Self.check(host, configuration)
    } catch { throw NetworkError(error) }
    context = Self.makeContext(host, configuration)
  }

  private static func check(_ host: String?, _ configuration: Configuration) throws(Failure) {
    if let option = configuration.timeouts.core.firstInvalid { throw invalid(option) }
    if let port = configuration.port, !(1...65535).contains(port) { throw invalid("port") }
    do throws(Failure) { try HeaderRules.check(configuration.headers.core) } catch {
      throw invalid("headers")
    }
    guard configuration.receiveBufferBytes >= 1024, configuration.receiveBufferBytes <= 10 << 20 else {
      throw invalid("receiveBufferBytes")
    }
    try configuration.credentials?.core.check()
    try checkWay(configuration)
    guard let host else {
      // Without an origin of its own they would go to everybody.
      if configuration.credentials != nil { throw invalid("credentials without a host") }
      return
    }
    do throws(Failure) {
      let url = try URLText.make(
        scheme: "http", host: host, port: configuration.port, basePath: "", path: nil)
      let parsed = try URLParser.parse(url)
      guard parsed.pieces.pathAndQuery == "/", parsed.user == nil, !host.contains("/") else {
        throw invalid("host")
      }
    } catch { throw invalid("host") }
  }

  private static func checkWay(_ configuration: Configuration) throws(Failure) {
    guard let proxy = configuration.proxy else { return }
    try proxy.check()
    let isUsed = proxy.core(isSecure: true) != nil || proxy.core(isSecure: false) != nil
    if isUsed, configuration.egress.core.isRestricted { throw invalid("egress behind a proxy") }
  }

  private static func engineCredential(_ host: String?, _ configuration: Configuration) -> EngineCredential? {
    guard let host, let credentials = configuration.credentials,
      let url = try? URLText.make(
        scheme: configuration.scheme.rawValue, host: host, port: configuration.port, basePath: "", path: nil),
      let parsed = try? URLParser.parse(url)
    else { return nil }
    return EngineCredential(credentials.core, origin: parsed.pieces.origin.text)
  }

  private static func invalid(_ option: String) -> Failure { Failure(.invalidConfiguration, reason: option) }

  private static func makeContext(_ host: String?, _ configuration: Configuration) -> EngineContext {
    var headers = configuration.headers.core
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
    settings.plainProxy = configuration.proxy?.core(isSecure: false)
    settings.secureProxy = configuration.proxy?.core(isSecure: true)
    settings.egress = configuration.egress.core
    settings.keepsCookies = configuration.cookies == .inMemory
    let origin = host.flatMap { home($0, configuration) }
    let name = configuration.storageName
    return EngineContext(
      driver: configuration.queue.driver, target: configuration.delivery.target, headers: headers,
      handleSettings: settings, credential: engineCredential(host, configuration),
      allowsCredentialsInClear: configuration.allowsCredentialsInClear, timeouts: configuration.timeouts.core,
      retry: configuration.retry.core,
      redirects: configuration.redirects.core, limits: configuration.limits.core, hooks: configuration.hooks,
      home: origin, owner: configuration.queue,
      openFreezing: { driver throws(Failure) in
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
