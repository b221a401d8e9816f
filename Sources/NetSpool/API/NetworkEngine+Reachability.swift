extension NetworkEngine {
  /// The prospects of sending, as far as this machine can tell.
  public enum Reachability: Sendable, Hashable, CaseIterable {
    /// No address and no route to others: the link is down, or has been up again for too short a while. An origin
    /// on this machine (`127.0.0.1`, `::1`, `localhost`) is never in this state.
    case noRoute
    /// There is a route, and the engine's own origin cannot be connected to, or has just taken three in a row
    /// without an answer. It is looked at until it can be.
    case originDown
    /// The origin answers, but a quarter of the last 16 attempts or more went wrong; or it takes connections and has yet to
    /// answer, which only sending can show.
    case degraded
    /// Nothing speaks against it. Also what is assumed as long as nothing is known.
    case reachable
  }

  /// The prospects of sending. Nothing that is enqueued waits for it: what is sent is tried.
  ///
  /// The first call begins to watch the links, addresses and routes of this machine (rtnetlink(7)) and the origin of
  /// this engine's host; an engine that never asks pays nothing. It knows the origin by what its own operations
  /// and those of equally configured engines on the same queue meet with; while it is down, a connection is opened
  /// now and then (after one second, later every half a minute) and nothing is sent on it. An engine without a host
  /// watches the link alone. Where netlink is not permitted everything counts as routed. Any thread; takes a lock,
  /// and the first call some 100 microseconds.
  public var reachability: Reachability {
    watchReachability()
    if let current = reachabilityBoard.current { return current }
    // The loop has yet to look: what the kernel says.
    let needsRoute = home.map { OriginWatch.needsRoute($0, handleSettings) } ?? true
    let link = (LinkReading.now() ?? .assumed).limited(to: interfaces)
    return Reachability(link, needsRoute: needsRoute, health: nil)
  }

  /// There is use in sending: `.reachable` or `.degraded`. See ``reachability``.
  public var isReachable: Bool { reachability.maySend }

  /// Calls back when ``reachability`` has changed, on the delivery target, with what it is now; begins to watch as
  /// that does. Several may be added.
  ///
  /// A lost link counts at once. One that comes back counts when it has held for a second: a link that flaps faster
  /// is one change. Changes that come faster than handlers run are told as one. Handlers live as long as the engine: capture it weakly.
  public func onReachabilityChange(_ handler: @escaping @Sendable (Reachability) -> Void) {
    reachabilityBoard.add(handler)
    watchReachability()
  }

  /// The kernel's view of the way to others, for `netspool doctor`: the families with an address and a route, and the
  /// interface of the default route, if there is one. A radio modem or a dialled line is cellular: `.byLink` runs narrower on
  /// it. Nil when the kernel does not tell.
  package static var linkNow: (families: [String], interface: (name: String, isCellular: Bool)?)? {
    guard let link = LinkReading.now() else { return nil }
    let names: [(IPFamily, String)] = [(.ipv4, "IPv4"), (.ipv6, "IPv6")]
    return (
      families: names.filter { link.families.contains($0.0) }.map(\.1),
      interface: link.interface.isEmpty ? nil : (link.interface, link.kind == .cellular)
    )
  }
}
