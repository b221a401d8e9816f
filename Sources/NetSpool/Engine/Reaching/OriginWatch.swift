/// An origin that somebody wants to know about, reached in one way (proxy, trust). Loop thread.
final class OriginWatch {
  struct Key: Hashable {
    let origin: OriginID
    let proxy: ProxySettings?
    let tls: TLSSettings
    let way: ConnectionWay

    init(_ origin: Origin, _ settings: HandleSettings) {
      self.origin = origin.id
      proxy = settings.proxy(isSecure: origin.isSecure)
      tls = settings.tls
      way = settings.way
    }
  }

  let key: Key
  let settings: HandleSettings
  /// `scheme://host[:port]`
  let text: String
  /// False for an origin, or a proxy, on this machine.
  let needsRoute: Bool
  var health = OriginHealth()
  var backoff = ProbeBackoff()
  /// The engines whose own origin it is, by id.
  var engines: Set<UInt64> = []
  var waiters = SendingWaits()
  /// Until the next look at it, or until the look that is under way has taken too long.
  var timer: TimerTable.Key?
  /// The look under way.
  var probe: Transfer?

  init(_ origin: Origin, _ settings: HandleSettings) {
    key = Key(origin, settings)
    self.settings = settings
    text = origin.text
    needsRoute = Self.needsRoute(origin, settings)
  }

  /// Whether anything but this machine is needed to get there.
  static func needsRoute(_ origin: Origin, _ settings: HandleSettings) -> Bool {
    needsRoute(origin.text, isSecure: origin.isSecure, settings)
  }

  /// The same by the origin's text alone: `scheme://host[:port]`.
  static func needsRoute(_ origin: String, isSecure: Bool, _ settings: HandleSettings) -> Bool {
    let proxy = settings.proxy(isSecure: isSecure)?.url
    let place = proxy.map { "http://" + ($0.split(separator: "/").last.map(String.init) ?? "") } ?? origin
    guard let pieces = (try? URLParser.parse(place))?.pieces.origin else { return true }
    return proxy == nil ? !settings.way.isLoopback(pieces) : !pieces.isLoopback
  }
}

/// Somebody who waits until there is use in sending.
final class SendingWait {
  let watch: OriginWatch
  /// A way to others will do, whatever is known of the origin.
  let isForRouteOnly: Bool
  /// Among its watch's.
  fileprivate var isListed = true
  /// Nil once called or called off.
  private var onWake: (() -> Void)?

  init(_ watch: OriginWatch, forRouteOnly: Bool, _ onWake: @escaping () -> Void) {
    self.watch = watch
    isForRouteOnly = forRouteOnly
    self.onWake = onWake
  }

  func wake() {
    let body = onWake
    onWake = nil
    body?()
  }

  /// Loop thread: it will not be called any more.
  func callOff() {
    onWake = nil
    if isListed { watch.waiters.remove(self) }
  }
}

/// The waits of those who want to send once it may work, oldest first. Each comes and goes at the same cost, however many
/// there are.
struct SendingWaits {
  /// And some that have left: so many are still here, and of these so many need a route only.
  private var waits: [SendingWait] = []
  private var count = 0
  private var countForRouteOnly = 0

  var isEmpty: Bool { count == 0 }
  var hasSomeForRouteOnly: Bool { countForRouteOnly > 0 }

  mutating func append(_ wait: SendingWait) {
    waits.append(wait)
    count += 1
    if wait.isForRouteOnly { countForRouteOnly += 1 }
  }

  fileprivate mutating func remove(_ wait: SendingWait) {
    forget(wait)
    // They know their watch: when nobody waits there any more, none may be kept.
    if count == 0 { waits = [] } else if waits.count > 2 * count + 16 { waits.removeAll { !$0.isListed } }
  }

  mutating func take(where matches: (SendingWait) -> Bool) -> [SendingWait] {
    let taken = waits.filter { $0.isListed && matches($0) }
    for wait in taken { forget(wait) }
    waits.removeAll { !$0.isListed }
    return taken
  }

  private mutating func forget(_ wait: SendingWait) {
    wait.isListed = false
    count -= 1
    if wait.isForRouteOnly { countForRouteOnly -= 1 }
  }
}
