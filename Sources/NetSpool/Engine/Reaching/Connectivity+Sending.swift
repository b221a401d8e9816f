/// Questions of the queue's other parts, and what waits until there is use in sending. Loop thread.
extension Connectivity {
  /// True when there is use in sending something of this engine there now: a route that has held for a while, and an origin
  /// that is not known to be down. From now on the link is watched.
  func maySend(to url: String, for engine: NetworkEngine) -> Bool {
    guard begin(), let origin = try? origins.find(url).origin else { return true }
    if let watch = known(origin, engine.handleSettings) { return maySend(watch) }
    return link.limited(to: engine.interfaces).isRouted
      || !OriginWatch.needsRoute(origin.pieces, engine.handleSettings)
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
    guard begin(), let origin = try? origins.find(url).origin else { return nil }
    let isNew = known(origin, engine.handleSettings) == nil
    let watch = watch(origin, engine.handleSettings)
    // One that was watched when it failed has been told already.
    if isNew, let failure { note(OriginEvidence(status: nil, failure: failure), watch) }
    let wait = makeWait(watch.waiters)
    update(watch)
    return wait
  }

  /// Looks for a store of frozen requests whether there is use in sending something of this engine there, and says so at once;
  /// where there is not, once more when there is.
  ///
  /// - Parameters:
  ///   - number: calls it off.
  ///   - failure: why it could not be sent, if that was tried.
  func lookAhead(
    to url: String, for engine: NetworkEngine, number: UInt64, after failure: NetworkError?,
    _ tell: @escaping @Sendable (Bool) -> Void
  ) {
    let wait = awaitSending(to: url, for: engine, after: failure) { list in
      Wait(.origin, in: list) { [unowned self] _ in
        looks[number] = nil
        tell(true)
      }
    }
    if maySend(to: url, for: engine) {
      wait?.callOff()
      return tell(true)
    }
    looks[number] = wait
    tell(false)
  }

  func callOffLook(_ number: UInt64) { looks.removeValue(forKey: number)?.callOff() }

  /// A connection that failed for want of a route is the network's failure and not the origin's.
  func blamingNetwork(_ failure: NetworkError, _ operation: NetworkOperation) -> NetworkError {
    guard failure.mayBeOffline, let origin = operation.loop.origin,
      !linkNow.limited(to: operation.engine.interfaces).isRouted,
      OriginWatch.needsRoute(origin.pieces, operation.engine.handleSettings)
    else { return failure }
    var offline = failure
    offline.code = .offline
    offline.reason = "noRoute"
    return offline
  }

  /// The wait of a request that waits for its origin (`NetworkRequest.waitsForOrigin`) and has not got through, until there is
  /// use in sending it.
  func originWait(_ operation: NetworkOperation, _ failure: NetworkError) -> Wait? {
    let request = operation.sent
    guard request.waitsForOrigin, blamingNetwork(failure, operation).isOffline,
      operation.loop.extras?.sinkFailure == nil, request.prepared.canReplay,
      failure.isRetrySafe || request.method.isIdempotent || operation.isKeyed,
      operation.secondsLeft(request, operation.loop.transfer) > 0
    else { return nil }
    if let left = operation.queueTimeLeft, left <= .zero { return nil }
    let url = operation.loop.history?.target.url ?? request.url
    let wait = awaitSending(to: url, for: operation.engine, after: failure) { list in
      Wait(.origin, in: list, then: .route(atFront: true))
    }
    if wait != nil { context.goOnWithQueueDeadline(operation) }
    return wait
  }

  /// The wait for a way there, where none of its engine's interfaces (`NetworkEngine.Configuration.allowedInterfaces`) leads to
  /// others.
  func routeWait(_ operation: NetworkOperation) -> Wait? {
    guard operation.engine.interfaces != nil, operation.loop.transfer == nil,
      let origin = operation.loop.origin, begin()
    else { return nil }
    let watch = watch(origin, operation.engine.handleSettings)
    guard !hasRoute(to: watch) else {
      forgetIfIdle(watch)
      return nil
    }
    operation.loop.extras?.nameFailure = nil
    operation.loop.history?.connecting.spent = 0
    let wait = Wait(.route, in: watch.routeWaiters, then: .route(atFront: true))
    operation.forEachRecipient { context.goOnWithQueueDeadline($0) }
    update(watch)
    return wait
  }

  /// The interface that an exchange's connections are bound to; nil: any, or this machine itself.
  func interface(for operation: NetworkOperation, at origin: Origin) -> String? {
    guard let rule = operation.engine.interfaces,
      OriginWatch.needsRoute(origin.pieces, operation.engine.handleSettings)
    else { return nil }
    return rule.best(of: begin() ? linkNow : .assumed) ?? rule.patterns.first
  }
}

extension NetworkError {
  /// True where it also fails without a route.
  fileprivate var mayBeOffline: Bool {
    switch code.stage {
    case .name: true
    case .connection: cause != .refused && cause != .reset
    case .time, .proxy: cause == .connect
    case .route, .handshake, .line, .elsewhere: false
    }
  }
}
