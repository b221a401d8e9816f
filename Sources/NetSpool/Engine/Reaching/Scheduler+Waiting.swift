/// Requests that wait for their origin (`NetworkRequest.waitsForOrigin`): one that has not got through goes back into the
/// queue when there is use in sending.
extension Scheduler {
  /// True when it waits from now on: its transfer is given back, and it will be called.
  func awaitOrigin(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError) -> Bool {
    let request = operation.sent
    guard request.waitsForOrigin, failure.isOffline, operation.loop.extras?.sinkFailure == nil,
      mayRepeat(request, failure)
    else { return false }
    let left = request.limits(of: operation.engine).queueDeadline.map { deadline in
      deadline - .microseconds(MonotonicClock.now - operation.loop.submittedAt)
    }
    if let left, left <= .zero { return false }
    let url = operation.loop.history?.target.url ?? request.url
    let wake = awaitSending(to: url, for: operation.engine, after: failure) { [unowned self] in
      self.wait(operation, request.priority, atFront: true)
    }
    guard let wake else { return false }
    operation.loop.transfer = nil
    recycle(transfer, operation)
    if let left { startQueueDeadline(operation, left) }
    move(operation, to: .waiting(.until(wake)))
    return true
  }

  private func mayRepeat(_ request: NetworkRequest, _ failure: NetworkError) -> Bool {
    guard request.prepared.canReplay else { return false }
    return failure.isRetrySafe || request.method.isIdempotent || request.idempotencyKey != nil
  }
}

/// Engines that may use some interfaces only (`NetworkEngine.Configuration.allowedInterfaces`).
extension Scheduler {
  /// True when it waits from now on, as none of its engine's interfaces leads to others. It goes back into the queue when one
  /// does.
  func awaitInterface(_ operation: NetworkOperation) -> Bool {
    guard operation.engine.interfaces != nil, operation.loop.transfer == nil,
      let origin = operation.loop.origin, let connectivity = useConnectivity()
    else { return false }
    let watch = connectivity.watch(origin, operation.engine.handleSettings)
    guard !connectivity.hasRoute(to: watch) else {
      connectivity.forgetIfIdle(watch)
      return false
    }
    operation.loop.extras?.nameFailure = nil
    suspend(operation, for: .route, in: watch.routeWaiters) { [unowned self] _ in
      wait(operation, operation.sentPriority, atFront: true)
    }
    connectivity.update(watch)
    return true
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
