internal import Synchronization

/// The cache before the network.
extension Scheduler {
  /// True when what is held was the answer, or nothing may be asked.
  func consult(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    releaseValidation(operation)
    operation.loop.cacheUse = nil
    switch cacheBridge.consult(operation, request) {
    case .ask(let use):
      operation.loop.cacheUse = use
      if let use, awaitValidation(operation, use) { return true }
    case .provide(let use):
      operation.loop.cacheUse = use
      if let early = use.early { for recipient in operation.recipients { provide(recipient, early) } }
    case .answer(let response, let renews):
      answer(operation, response)
      if renews { refresh(request, operation.engine) }
      return true
    case .refuse(let failure):
      publish(operation, failure)
      return true
    }
    return false
  }

  /// Once for each, however many exchanges follow; streams get one body, the final one.
  func provide(_ recipient: NetworkOperation, _ early: NetworkResponse) {
    guard recipient.loop.extras?.provided == nil, !recipient.hasStreams else { return }
    recipient.makeExtras().provided = early.body
    tell(recipient, .provisional(early))
  }

  /// Brings a stored answer up to date, for nobody in particular.
  private func refresh(_ request: NetworkRequest, _ engine: NetworkEngine) {
    guard !isClosing, !engine.isClosed.load(ordering: .acquiring) else { return }
    let refresh = NetworkOperation(request, engine: engine)
    refresh.loop.isRefresh = true
    refresh.onError { _ in }  // nobody asked, so nobody hears of it
    // Where it was led to another loop, its own origin is elsewhere.
    if !isAlone { return _ = driver.submit(refresh, limit: .max) }
    driver.pending.add(1, ordering: .relaxed)
    later { [unowned self] in submit(refresh) }
  }
}
