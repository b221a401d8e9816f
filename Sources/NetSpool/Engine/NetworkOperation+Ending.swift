internal import Synchronization

extension NetworkOperation {
  /// What whoever ended an operation must see to.
  struct Ending {
    /// Somebody listens to its states, and this one is new.
    let isStateHeard: Bool
    let hasStreams: Bool
    let waitsForOthers: Bool
    let hasDependents: Bool
    let onConclusion: Conclusion?
  }

  /// The one place where an operation gets its outcome: on the loop, on the thread that enqueues (a fresh answer from the
  /// cache, a refusal) or on any that cancels. Any thread; nil when it has one already, or `mayEnd` says no.
  func end(with outcome: Outcome, if mayEnd: (inout Shared) -> Bool = { _ in true }) -> Ending? {
    shared.withLock { shared in
      guard shared.outcome == nil, mayEnd(&shared) else { return nil }
      let state = outcome.finalState
      let isStateHeard = shared.handlers.wantsState && shared.state != state
      shared.outcome = outcome
      shared.state = state
      return Ending(
        isStateHeard: isStateHeard, hasStreams: !shared.streams.isEmpty,
        waitsForOthers: !shared.dependencies.isEmpty, hasDependents: shared.hasDependents,
        onConclusion: shared.onConclusion)
    }
  }

  /// Any thread: it never reached the loop. Ends it on the delivery target all the same; false when it has
  /// ended already, or is not as required.
  @discardableResult
  func refuse(_ failure: NetworkError, onlyIfReady: Bool = false) -> Bool {
    let ending = end(with: .failure(failure)) { !onlyIfReady || $0.state == .ready }
    guard let ending else { return false }
    releaseDependencies()
    // What waits for it waits on the loop, and so do its streams for their end.
    if engine.driver.isStarted || ending.hasStreams {
      engine.driver.perform { [self] scheduler in scheduler.refused(self, failure) }
    }
    engine.deliverLate { [self] in
      deliver(.state(failure.code == .cancelled ? .cancelled : .finished))
      deliver(.final)
    }
    return true
  }

  /// Any thread: ends it with an answer that needed no loop. False when it must go there: it has streams to feed,
  /// others to wait for, or has been cancelled.
  func finish(_ request: NetworkRequest, _ outcome: Outcome) -> Bool {
    guard !engine.isClosed.load(ordering: .acquiring) else { return false }
    let ending = end(with: outcome) { shared in
      guard shared.streams.isEmpty, shared.dependencies.isEmpty else { return false }
      // As it is sent, when that is not what it was.
      if request.hasExtras || engine.configuration.prepare != nil { shared.request = request }
      return true
    }
    guard let ending else { return false }
    if ending.hasDependents { engine.driver.perform { [self] scheduler in scheduler.release(self) } }
    engine.deliverSoon(self)
    return true
  }

  /// They are the loop's from now on.
  func takeStreams() -> [StreamAttachment] {
    shared.withLock { shared in
      defer { shared.streams = [] }
      return shared.streams
    }
  }

  /// A chain of ended operations must not keep its whole past alive, nor take it apart recursively.
  func releaseDependencies() {
    let old = shared.withLock { shared in
      defer { shared.dependencies = [] }
      return shared.dependencies
    }
    _ = old  // released here, outside the lock
  }
}

extension Scheduler {
  /// Ends an operation on the loop, and tells its user. What it holds here, it gives back by `move(_:to:)`.
  func conclude(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    loop.assertOnLoop()
    guard let ending = operation.end(with: outcome) else { return }
    if let onConclusion = ending.onConclusion {
      driver.retract()
      return onConclusion(attempted(operation, outcome.result))
    }
    if ending.isStateHeard { tell(operation, .state(outcome.finalState)) }
    operation.engine.willDeliver()
    tell(operation, .final)
    timers.cancel(operation.loop.exchangeState?.queueDeadline)
    timers.cancel(operation.loop.exchangeState?.ownTotal)
    if ending.hasStreams || ending.waitsForOthers {
      operation.releaseDependencies()
      closeUnusedStreams(operation, outcome)
    }
    release(operation)
  }

  func conclude(_ operation: NetworkOperation, _ failure: NetworkError) {
    conclude(operation, .failure(failure.about(operation.request.url)))
  }
}

extension NetworkOperation.Outcome {
  /// What users are told: an operation whose request stays on the disk is frozen.
  var finalState: NetworkOperation.State {
    switch self {
    case .success: .finished
    case .failure(let failure): failure.code == .cancelled ? .cancelled : .finished
    case .handedOver: .frozen
    }
  }
}
