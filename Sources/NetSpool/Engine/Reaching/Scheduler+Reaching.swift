/// The network as the queue's other parts ask for it.
extension Scheduler {
  /// Watches from now on; nil when the queue closes.
  func useConnectivity() -> Connectivity? {
    loop.assertOnLoop()
    if connectivity == nil, !isClosing { connectivity = Connectivity(self) }
    return connectivity
  }

  /// An engine wants to know how its origin is, and to hear of changes.
  func watchReachability(for engine: NetworkEngine) {
    loop.assertOnLoop()
    useConnectivity()?.add(engine)
  }

  // MARK: Sizing

  /// Only `byLink` must know the link; whoever needs nothing of it pays nothing for it.
  func watchLinkIfNeeded() {
    guard case .byLink = settings.sizing, connectivity == nil else { return }
    if useConnectivity() != nil { linkKindChanged() }
  }

  func linkKindChanged() {
    loop.assertOnLoop()
    guard let kind = connectivity?.link.kind else { return }
    for origin in origins.all where origin.sizing.link != NetworkQueue.Sizing.Link(kind) {
      origin.sizing.link = NetworkQueue.Sizing.Link(kind)
      updateLimit(of: origin, now: MonotonicClock.now)
    }
  }

  // MARK: Waiting

  /// Whether there is use in sending something of this engine there now: a route that has held for a while, and
  /// an origin that is not known to be down. From now on the link is watched.
  func maySend(to url: String, for engine: NetworkEngine) -> Bool {
    guard let connectivity = useConnectivity(), let origin = try? origins.find(url, make: makeOrigin).origin
    else { return true }
    if let watch = connectivity.known(origin, engine.handleSettings) { return connectivity.maySend(watch) }
    return connectivity.link.limited(to: engine.interfaces).isRouted
      || !OriginWatch.needsRoute(origin, engine.handleSettings)
  }

  /// Has something wait until there is use in sending there: till the next turn when there is now. Meanwhile the origin is
  /// looked at.
  ///
  /// - Parameter failure: why it could not be sent, if that was tried.
  /// - Returns: what calls it off; nil when the URL leads nowhere or the queue closes.
  func awaitSending(
    to url: String, for engine: NetworkEngine, after failure: NetworkError? = nil,
    _ makeWait: (WaitList) -> Wait
  ) -> Wait? {
    guard let connectivity = useConnectivity(), let origin = try? origins.find(url, make: makeOrigin).origin
    else { return nil }
    let isNew = connectivity.known(origin, engine.handleSettings) == nil
    let watch = connectivity.watch(origin, engine.handleSettings)
    // One that was watched when it failed has been told already.
    if isNew, let failure { connectivity.note(OriginEvidence(status: nil, failure: failure), watch) }
    let wait = makeWait(watch.waiters)
    connectivity.update(watch)
    return wait
  }

  // MARK: Blame

  /// A connection that failed for want of a route is the network's failure and not the origin's.
  func blamingNetwork(_ failure: NetworkError, _ operation: NetworkOperation) -> NetworkError {
    guard failure.mayBeOffline, let origin = operation.loop.origin,
      !linkNow.limited(to: operation.engine.interfaces).isRouted,
      OriginWatch.needsRoute(origin, operation.engine.handleSettings)
    else { return failure }
    var offline = failure
    offline.code = .offline
    offline.reason = "noRoute"
    return offline
  }

  /// What the kernel says; without anybody who watches, what it said less than a second ago.
  private var linkNow: LinkState {
    if let connectivity, !connectivity.isClosed { return connectivity.linkNow }
    let now = MonotonicClock.now
    if let lastLook, now - lastLook.at < 1_000_000 { return lastLook.link }
    let link = LinkReading.now() ?? .assumed
    lastLook = (link, now)
    return link
  }
}

extension NetworkQueue.Sizing.Link {
  init(_ kind: LinkState.Kind) { self = kind == .local ? .local : .cellular }
}

extension NetworkError {
  /// Whether it failed where it also fails without a route.
  fileprivate var mayBeOffline: Bool {
    switch code.stage {
    case .name: true
    case .connection: cause != .refused && cause != .reset
    case .time, .proxy: cause == .connect
    case .route, .handshake, .line, .elsewhere: false
    }
  }
}
