/// The network as the queue's other parts ask for it.
extension Scheduler {
  /// Watches from now on; nil when the queue closes.
  func useConnectivity() -> Connectivity? {
    loop.assertOnLoop()
    if connectivity == nil, !context.isClosing {
      connectivity = Connectivity(self)
      linkKindChanged()
    }
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
    guard case .byLink = origins.settings.sizing, connectivity == nil else { return }
    _ = useConnectivity()
  }

  func linkKindChanged() {
    loop.assertOnLoop()
    if let kind = connectivity?.link.kind { origins.link = kind == .local ? .local : .cellular }
  }

  // MARK: Waiting

  /// Whether there is use in sending something of this engine there now: a route that has held for a while, and
  /// an origin that is not known to be down. From now on the link is watched.
  func maySend(to url: String, for engine: NetworkEngine) -> Bool {
    guard let connectivity = useConnectivity(), let origin = try? origins.find(url).origin
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
    guard let connectivity = useConnectivity(), let origin = try? origins.find(url).origin
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

/// Requests that wait for their origin (`NetworkRequest.waitsForOrigin`): one that has not got through goes back into the
/// queue when there is use in sending.
extension Scheduler {
  /// The wait of one whose exchange has failed because it was of no use, which has given its transfer back by then.
  func originWait(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError) -> Wait? {
    let request = operation.sent
    guard request.waitsForOrigin, failure.isOffline, operation.loop.extras?.sinkFailure == nil,
      request.prepared.canReplay,
      failure.isRetrySafe || request.method.isIdempotent || request.idempotencyKey != nil
    else { return nil }
    let left = request.limits(of: operation.engine).queueDeadline.map { deadline in
      deadline - .microseconds(MonotonicClock.now - operation.loop.submittedAt)
    }
    if let left, left <= .zero { return nil }
    let url = operation.loop.history?.target.url ?? request.url
    let wait = awaitSending(to: url, for: operation.engine, after: failure) { list in
      Wait(.origin, in: list, then: .route(atFront: true))
    }
    guard let wait else { return nil }
    operation.loop.transfer = nil
    recycle(transfer, operation)
    if let left { startQueueDeadline(operation, left) }
    return wait
  }
}

/// Engines that may use some interfaces only (`NetworkEngine.Configuration.allowedInterfaces`).
extension Scheduler {
  /// The wait for a way there, where none of its engine's interfaces leads to others.
  func routeWait(_ operation: NetworkOperation) -> Wait? {
    guard operation.engine.interfaces != nil, operation.loop.transfer == nil,
      let origin = operation.loop.origin, let connectivity = useConnectivity()
    else { return nil }
    let watch = connectivity.watch(origin, operation.engine.handleSettings)
    guard !connectivity.hasRoute(to: watch) else {
      connectivity.forgetIfIdle(watch)
      return nil
    }
    operation.loop.extras?.nameFailure = nil
    let wait = Wait(.route, in: watch.routeWaiters, then: .route(atFront: true))
    connectivity.update(watch)
    return wait
  }

  /// The interface that an exchange's connections are bound to; nil: any, or this machine itself.
  func interface(of rule: InterfaceRule, for operation: NetworkOperation, at origin: Origin) -> String? {
    guard OriginWatch.needsRoute(origin, operation.engine.handleSettings) else { return nil }
    return rule.best(of: useConnectivity()?.linkNow ?? .assumed) ?? rule.patterns.first
  }
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
