/// An origin that an engine or an operation wants to know about, reached in one way (proxy, trust). Loop thread.
final class OriginWatch {
  struct Key: Hashable {
    let origin: OriginID
    let proxy: ProxySettings?
    let tls: TLSSettings
    let way: ConnectionWay

    init(_ origin: Origin, _ settings: HandleSettings) {
      self.origin = origin.id
      proxy = settings.proxy(for: origin.pieces)
      tls = settings.tls
      way = settings.way
    }
  }

  let key: Key
  let settings: HandleSettings
  /// `scheme://host[:port]`
  var text: String { origin.text }
  /// False for an origin, or a proxy, on this machine.
  let needsRoute: Bool
  var health = OriginHealth()
  var backoff = ProbeBackoff()
  /// The engines whose own origin it is, by id.
  var engines: Set<UInt64> = []
  /// What waits until there is use in sending, and what a way to others will do for, whatever is known of the origin.
  let waiters = WaitList()
  let routeWaiters = WaitList()
  /// Until the next look at it, or until the look that is under way has taken too long.
  var timer: TimerTable.Key?
  /// The look under way.
  var probe: Transfer?

  private let origin: Origin

  init(_ origin: Origin, _ settings: HandleSettings) {
    key = Key(origin, settings)
    self.origin = origin
    origin.users += 1
    self.settings = settings.leading(to: origin.pieces)
    needsRoute = Self.needsRoute(origin.pieces, settings)
  }

  deinit { origin.users -= 1 }

  var isAwaited: Bool { !(waiters.isEmpty && routeWaiters.isEmpty) }

  /// True if anything but this machine is needed to get there.
  static func needsRoute(_ origin: URLPieces.Origin, _ settings: HandleSettings) -> Bool {
    guard let proxy = settings.proxy(for: origin)?.url else {
      return !settings.way.isLoopback(origin)
    }
    let place = try? URLParser.parse("http://\(proxy.split(separator: "/").last ?? "")")
    return place?.pieces.origin.isLoopback != true
  }
}
