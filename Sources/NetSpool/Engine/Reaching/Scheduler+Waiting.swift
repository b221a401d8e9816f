/// Requests that wait for their origin (`NetworkRequest.waitsForOrigin`): one that has not got through goes back into the
/// queue when there is use in sending.
extension Scheduler {
  /// The wait of one whose exchange has failed because it was of no use, which has given its transfer back by then.
  func originWait(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError) -> Wait? {
    let request = operation.sent
    guard request.waitsForOrigin, failure.isOffline, operation.loop.extras?.sinkFailure == nil,
      mayRepeat(request, failure)
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

  private func mayRepeat(_ request: NetworkRequest, _ failure: NetworkError) -> Bool {
    guard request.prepared.canReplay else { return false }
    return failure.isRetrySafe || request.method.isIdempotent || request.idempotencyKey != nil
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

  /// What an operation ends with that has waited for its slot until its limit.
  func queueDeadlineFailure(_ operation: NetworkOperation) -> NetworkError {
    if case .route? = operation.leader.currentWait?.reason {
      return NetworkError(.offline, reason: "allowedInterfaces")
    }
    return NetworkError(.timedOut, cause: .queueDeadline)
  }
}
