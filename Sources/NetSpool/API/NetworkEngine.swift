internal import Dispatch
internal import Synchronization

/// A client for one server, or for all: it sends requests.
///
/// It makes operations, sends them through its queue and calls your closures on its delivery target.
/// Operations under way keep what they need alive: letting the last reference to an engine go cancels nothing.
/// Any thread may call anything here.
public final class NetworkEngine: Sendable {
  /// The settings it was made with.
  public let configuration: Configuration
  /// The server that paths belong to; nil when every operation has an absolute URL.
  public let host: String?

  let id: UInt64
  /// The queue's thread-safe end.
  let driver: QueueDriver
  /// The thread or queue of its closures.
  let target: DeliveryTarget
  /// The configuration's and those that every request carries.
  let headers: Headers
  let handleSettings: HandleSettings
  /// Its connections lead to the addresses of the origin's own name.
  let goesStraight: Bool
  /// By which connections to secure origins are verified, and those to others (`HandleSettings.authorities`).
  let authorities: (ofSecure: Authorities?, ofPlain: Authorities?)
  /// The servers that may answer it.
  let reach: AnswerScope.Reach
  /// Over which it may send; nil: any.
  let interfaces: InterfaceRule?
  /// The cache's knowledge of its cookies, if it keeps some.
  let jar: CookieJar?
  /// The meaning of fields by their names.
  let fieldMeaning: FieldMeaning
  /// The lines of a request without fields of its own.
  let plainLines: [HeaderLines.Line]
  /// Bodies are decoded, unless the engine names the codings itself.
  let decodes: Bool
  /// The account that requests are sent for, and its origin.
  let credential: EngineCredential?
  /// The origin of its paths; nil when every operation has an absolute URL.
  let home: URLPieces.Origin?
  #if Metrics
  let metrics: EngineMetrics
  #endif
  /// When what still runs is ended: never, while it is open.
  let endsAt = Atomic(Microseconds.max)
  let reachabilityBoard = ReachabilityBoard()
  /// Ended without the loop and not yet delivered.
  let ended = EndedOperations()
  let followUps = FollowUps()
  /// Final events on their way to its closures.
  let undelivered = Atomic(0)
  let seats: EngineSeats
  let counters = EngineCounters()
  /// The loop wants to hear when there is room for more of them.
  let isWaitingForRoom = Atomic(false)
  /// Made once, under the lock behind it.
  let caching = PublishedOnce<EngineCache>()
  let openingCache = Mutex(())
  /// Another process keeps the store of its cache; see `useCacheLater`.
  let isCacheBusy = Atomic(false)
  let freezes = Mutex<EngineFreezing?>(nil)
  /// What `useFreezing` was asked for last, and did not get.
  let refusedFreezing = Mutex<FreezeConfiguration?>(nil)

  private static let lastID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - host: a name of at most 253 bytes or an address, without scheme, port and path (``init(url:configuration:)``
  ///     takes these); nil for absolute URLs only.
  ///   - configuration: all defaults unless given.
  /// Throws `.invalidConfiguration` for an unusable host, port, header, time limit or proxy.
  public init(host: String? = nil, configuration: Configuration = .init()) throws(NetworkError) {
    try Self.check(host, configuration)
    self.host = host
    self.configuration = configuration
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    driver = configuration.queue.driver
    seats = EngineSeats(loops: driver.loops.count)
    target = configuration.delivery.target
    headers = configuration.sentHeaders
    handleSettings = configuration.handleSettings
    goesStraight = !handleSettings.hasProxy && handleSettings.way.isDirect
    authorities = (handleSettings.authorities(isSecure: true), handleSettings.authorities(isSecure: false))
    reach = AnswerScope.Reach(handleSettings)
    interfaces = handleSettings.way.interfaces
    jar = handleSettings.keepsCookies ? CookieJar(of: id) : nil
    jar?.replace(configuration.cookieLines)
    fieldMeaning = FieldMeaning(secret: configuration.secretFields, open: configuration.openFields)
    plainLines = try HeaderLines.plain(headers) + configuration.omittedLines
    decodes = !headers.contains("Accept-Encoding")
    home = host.flatMap { configuration.home($0) }
    credential = home.flatMap { home in
      configuration.credentials.map { EngineCredential(credential: $0, origin: home.text) }
    }
    #if Metrics
    metrics = EngineMetrics(home, engine: id)
    #endif
    joinLog()
  }

  /// Makes an engine for a base URL, `https://api.example.org:8443/v2`: its scheme, host, port and path take the place of
  /// the configuration's. Throws `.invalidURL`, and what ``init(host:configuration:)`` throws.
  public convenience init(url: String, configuration: Configuration = .init()) throws(NetworkError) {
    let parsed = try URLParser.parse(url)
    if parsed.user != nil {
      throw NetworkError(.invalidURL, reason: "userinfo; see Configuration.credentials")
    }
    let base = parsed.pieces
    if base.pathAndQuery.contains("?") { throw NetworkError(.invalidURL, reason: "a query in a base URL") }
    var configuration = configuration
    configuration.scheme = base.scheme == "http" ? .http : .https
    configuration.port = base.origin.hasDefaultPort ? nil : base.port
    configuration.basePath = base.pathAndQuery
    try self.init(host: base.host, configuration: configuration)
  }

  deinit {
    leaveLog()
    if jar != nil, homePort.loop.isStarted {
      homePort.perform { [id] in $0.starter.pools.dropCookies(of: id) }
    }
  }

  private static func check(_ host: String?, _ configuration: Configuration) throws(NetworkError) {
    if let option = configuration.timeouts.firstInvalid { throw .misconfigured(option) }
    if let port = configuration.port, !(1...65535).contains(port) { throw .misconfigured("port") }
    do throws(NetworkError) { try HeaderRules.check(sent: configuration.headers) } catch {
      throw NetworkError(.invalidConfiguration, cause: .headers)
    }
    do throws(NetworkError) {
      try HeaderRules.check(name: "User-Agent", value: configuration.applicationVersion)
    } catch { throw .misconfigured("applicationVersion") }
    guard CacheOpening.isName(configuration.storageName) else { throw .misconfigured("storageName") }
    if configuration.originPauseMax < .zero { throw .misconfigured("originPauseMax") }
    if configuration.limits.hasNegative { throw .misconfigured("limits") }
    guard configuration.receiveBufferBytes >= 1024, configuration.receiveBufferBytes <= 10 << 20 else {
      throw .misconfigured("receiveBufferBytes")
    }
    try configuration.credentials?.check()
    try configuration.checkWay()
    try configuration.tls.check(hasTLS: host == nil || configuration.scheme == .https)
    if let part = configuration.trustStore.firstUnfit {
      throw NetworkError(.invalidConfiguration, cause: configuration.tls.option(of: part))
    }
    guard let host else {
      // Without an origin of its own they would go to everybody.
      if configuration.credentials != nil { throw .misconfigured("credentials without a host") }
      return
    }
    do throws(NetworkError) { try URLAuthority.checkHost(host) } catch {
      throw .misconfigured("host: \(error.reason ?? "unusable")")
    }
  }
}

extension NetworkEngine.Configuration {
  fileprivate func checkWay() throws(NetworkError) {
    try ConnectionWay.check(resolve: resolve, connectTo: connectTo, unixSocket: unixSocket)
    if let allowedInterfaces { try InterfaceRule.check(allowedInterfaces) }
    if unixSocket != nil, allowedInterfaces != nil {
      throw .misconfigured("allowedInterfaces with a Unix socket")
    }
    if let connectionAgeMax, connectionAgeMax < .seconds(1) { throw .misconfigured("connectionAgeMax") }
    if unixSocket != nil, egress.isRestricted { throw .misconfigured("egress with a Unix socket") }
    guard let proxy else { return }
    try proxy.check()
    guard proxy.settings(isSecure: true) != nil || proxy.settings(isSecure: false) != nil else { return }
    if egress.isRestricted { throw .misconfigured("egress behind a proxy") }
    if unixSocket != nil { throw .misconfigured("a Unix socket behind a proxy") }
  }

  fileprivate var sentHeaders: Headers {
    var headers = headers
    if !headers.contains("User-Agent"), !omittedFields.contains(where: { $0.lowercased() == "user-agent" }) {
      headers.append(name: "User-Agent", value: "\(ProcessName.token)/\(applicationVersion)")
    }
    return headers
  }

  var omittedLines: [HeaderLines.Line] { omittedFields.map(HeaderLines.omission) }

  fileprivate var trustStore: TrustStore {
    TrustStore(bundle: tls.caFile, folder: tls.caPath, environment: ProcessEnvironment.value)
  }

  fileprivate var handleSettings: HandleSettings {
    var settings = HandleSettings()
    settings.receiveBufferBytes = receiveBufferBytes
    settings.tls.trust = trustStore
    settings.tls.authorities = Authorities.of(settings.tls.trust)
    settings.tls.pinnedPublicKey = tls.pinnedPublicKey
    settings.httpVersion = httpVersion
    settings.way = ConnectionWay(
      resolve: resolve, unixSocket: unixSocket, interfaces: allowedInterfaces.map(InterfaceRule.init),
      connectTo: connectTo, isIPv4: isIPv4)
    settings.connectionAgeMax = connectionAgeMax.map { Int($0.components.seconds) } ?? 0
    settings.tls.verifies = !tls.unsafelyTrustsAnyCertificate
    settings.tls.requiresAlternativeName = tls.requiresSubjectAlternativeName
    settings.plainProxy = proxy?.settings(isSecure: false)
    settings.secureProxy = proxy?.settings(isSecure: true)
    settings.egress = egress
    settings.keepsCookies = cookies == .inMemory
    settings.cookieLines = cookieLines
    return settings
  }

  fileprivate func home(_ host: String) -> URLPieces.Origin? {
    let url = try? URLText.make(scheme: scheme.rawValue, host: host, port: port, basePath: "", path: nil)
    return url.flatMap { try? URLParser.parse($0).pieces.origin }
  }
}

extension NetworkEngine.TLS {
  /// Refuses what paths of plain HTTP could never keep, and pins that no key has.
  fileprivate func check(hasTLS: Bool) throws(NetworkError) {
    if let pin = pinnedPublicKey {
      if !hasTLS { throw .misconfigured("tls.pinnedPublicKey without TLS") }
      if !pin.split(separator: ";", omittingEmptySubsequences: false).allSatisfy(Self.isDigest) {
        throw .misconfigured("tls.pinnedPublicKey")
      }
    }
    if requiresSubjectAlternativeName, !hasTLS {
      throw .misconfigured("tls.requiresSubjectAlternativeName without TLS")
    }
  }

  /// `sha256//`, and 32 bytes in Base64.
  private static func isDigest(_ pin: Substring) -> Bool {
    let digits = pin.utf8.dropFirst(8)
    return pin.hasPrefix("sha256//") && digits.count == 44 && digits.last == UInt8(ascii: "=")
      && digits.dropLast().allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2B || $0 == 0x2F }
  }

  /// Returns who has named it: the caller, or the environment.
  fileprivate func option(of part: TrustStore.Part) -> NetworkError.Cause {
    let isOwn = caFile != nil || caPath != nil
    switch part {
    case .bundle: return isOwn ? .trustFile : .environmentTrustFile
    case .folder: return isOwn ? .trustFolder : .environmentTrustFolder
    }
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

  /// A thread that waits here for a closure waits for itself.
  var isHere: Bool {
    if NetSpool.Delivery.isRunning { return true }
    guard case .queue(let queue) = self else { return false }
    return queue.getSpecific(key: Self.ofMain) == true && DispatchQueue.getSpecific(key: Self.ofMain) == true
  }

  /// Marks the main queue, which is the main thread's also while nothing runs on it.
  private static let ofMain: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
}

extension NetworkEngine {
  /// The treatment of cookies.
  public enum Cookies: Sendable, Hashable {
    /// `Set-Cookie` is only a field of an answer. The default.
    case none
    /// Kept in memory, for this engine alone and as long as the process, and sent back where they belong (RFC 6265),
    /// redirects included. Whenever an answer sets some, a domain with more than 180 keeps the 150 that were new last,
    /// and all together keep 3,000. A libcurl built with a list of public suffixes refuses cookies for those. Names with a dot at their end are
    /// refused (`.invalidURL`). The cache keeps answers apart by the cookies of their host.
    case inMemory
  }

  /// The cookies that are kept, as lines of Netscape's file. Waits for the loop: not for its thread, nor for closures.
  package var cookieLines: [String] {
    guard handleSettings.keepsCookies, driver.isStarted else { return configuration.cookieLines }
    return FirstAnswer.wait { told in
      homePort.perform(of: id) { [id, handleSettings] in
        told($0.starter.pools.cookieLines(of: id, handleSettings))
      } otherwise: {
        told([])
      }
    }
  }

  /// Forgets all cookies. Takes effect behind what was enqueued before.
  public func removeCookies() {
    guard let jar, driver.isStarted else { return }
    jar.replace([])
    homePort.perform(of: id) { [id] in
      $0.starter.pools.removeCookies(of: id)
      jar.replace([])
    }
  }
}
