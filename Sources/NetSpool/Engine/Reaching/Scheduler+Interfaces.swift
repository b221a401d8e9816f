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
    let wait = connectivity.addWaiter(watch, forRouteOnly: true) { [unowned self] in
      self.wait(operation, operation.request.priority, atFront: true)
    }
    operation.loop.nameFailure = nil
    move(operation, to: .awaiting(wait))
    return true
  }

  /// The interface that an exchange's connections are bound to; nil: any, or this machine itself.
  func interface(for operation: NetworkOperation, at origin: Origin) -> String? {
    guard let rule = operation.engine.interfaces,
      OriginWatch.needsRoute(origin, operation.engine.handleSettings)
    else { return nil }
    return rule.best(of: useConnectivity()?.linkNow ?? .assumed) ?? rule.patterns.first
  }

  /// What an operation ends with that has waited for its slot until its limit.
  func queueDeadlineFailure(_ operation: NetworkOperation) -> NetworkError {
    if case .awaiting(let wait) = operation.leader.loop.phase, wait.isForRouteOnly {
      return NetworkError(.offline, reason: "allowedInterfaces")
    }
    return NetworkError(.timedOut, cause: .queueDeadline)
  }
}
