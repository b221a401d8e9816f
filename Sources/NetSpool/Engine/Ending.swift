internal import Synchronization

/// How an exchange, or what stood in for one, ends for all who share it: with an answer or a failure. A value that the
/// parts judge; the scheduler hands it out.
struct Ending {
  var answer: NetworkResponse?
  var failure: NetworkError?
  /// The streams that the body went into.
  var fanout: SinkFanout?

  init(_ answer: NetworkResponse? = nil, failure: NetworkError? = nil) {
    self.answer = answer
    self.failure = failure
  }

  /// Takes the body that a transfer has collected, so once for each exchange.
  init(
    of operation: NetworkOperation, _ transfer: Transfer, _ measured: NetworkResponse.Metrics,
    failure: NetworkError? = nil
  ) {
    self.failure = failure
    guard var head = transfer.exchange.head else { return }
    head.trailers = transfer.trailers
    let history = operation.loop.history
    var metrics = measured
    metrics.attempts = history?.attempts ?? 1
    // libcurl has sent it again by itself, for a connection that was gone or a stream that was refused.
    if !transfer.exchange.plan.hasRounds { metrics.attempts += max(0, transfer.exchange.sends - 1) }
    metrics.nameLookupTime += history?.lookupTime ?? 0
    metrics.redirects = history?.redirects?.hops ?? 0
    let begun = history.flatMap { $0.firstStart == 0 ? nil : $0.firstStart } ?? transfer.exchange.startedAt
    metrics.queueWaitTime = max(0, begun - operation.loop.submittedAt)
    answer = NetworkResponse(
      head: head, body: ResponseBody(transfer.takeCollected()), source: .network,
      finalURL: transfer.url, metrics: metrics, streams: [])
    // Most are whole, which costs nothing to say.
    if failure == nil, transfer.completeness != .whole { answer?.completeness = .closeDelimited }
  }

  /// What the streams are told; nil: their body is whole. The page of an error is none.
  var refusal: NetworkError? {
    failure ?? answer.flatMap { $0.head.status >= 300 ? NetworkError(status: $0) : nil }
  }

  /// For one of those who share it; the last of them gets the answer itself, and no copy.
  consuming func outcome(for recipient: NetworkOperation) -> NetworkOperation.Outcome {
    var answer = answer.take()
    answer?.metrics.endToEndTime = MonotonicClock.now - recipient.loop.submittedAt
    if var failure = recipient.loop.extras?.sinkFailure ?? failure {
      failure.response = failure.response ?? answer
      return .failure(failure)
    }
    guard var answer else { return .failure(NetworkError(.cancelled)) }
    if let fanout { answer.streams = fanout.reports(of: recipient.id) }
    return .success(answer)
  }
}

// MARK: For all who share it

extension Scheduler {
  /// Ends a leader and all who share its exchange, once their streams have finished.
  func publish(_ leader: NetworkOperation, _ ending: consuming Ending) {
    unregister(leader)
    if leader.loop.extras?.unwritten.isEmpty == false { return record(leader, ending) }
    if leader.loop.waitersLeft > 0 { letFollowersEnd(leader, ending) }
    guard let fanout = leader.loop.extras?.fanout else { return handOut(consume ending, of: leader) }
    move(leader, to: .publishing)
    ending.fanout = fanout
    // The body is whole, or never will be: the streams end, and then the operation.
    fanout.finish(ending.refusal) { [self, ending] in
      handOut(ending, of: leader)
      loop.markDirty()
    }
    // Most streams have ended by now.
    guard case .publishing = leader.loop.phase else { return }
    limitStreams(of: leader)
    streamWatch.begin(leader)
  }

  /// Ends a leader that has no exchange under way, and all who wait for it.
  func publish(_ leader: NetworkOperation, _ failure: NetworkError) {
    publish(leader, Ending(failure: failure))
  }

  private func handOut(_ ending: consuming Ending, of leader: NetworkOperation) {
    let waiters = leader.loop.waiters.filter { $0.leader === leader }
    let isWaitedFor = !leader.loop.isDetached
    let attempts = ending.answer?.metrics.attempts ?? leader.loop.history?.attempts ?? 1
    ending.failure?.attempts = attempts
    leader.loop.extras?.fanout = nil
    leader.loop.cacheUse = nil  // who keeps the operation does not keep what the cache lent
    leader.loop.extras?.waiters = []
    retire(leader)
    if isWaitedFor, waiters.isEmpty { return hand(consume ending, to: leader) }
    if isWaitedFor { hand(copy ending, to: leader) }
    // Others want their turn before a hundred thousand have had theirs.
    for waiter in waiters.prefix(Self.handedOutMax) { hand(copy ending, to: waiter, of: leader) }
    context.forEach(of: Array(waiters.dropFirst(Self.handedOutMax))) { [unowned self, ending] in
      hand(ending, to: $0, of: leader)
    }
  }

  /// So many who share an answer get it in the turn in which it is there.
  private static let handedOutMax = 256

  /// One that has left meanwhile has had its end.
  private func hand(_ ending: consuming Ending, to waiter: NetworkOperation, of leader: NetworkOperation) {
    guard waiter.leader === leader else { return }
    move(waiter, to: .ended)
    hand(consume ending, to: waiter)
  }

  private func hand(_ ending: consuming Ending, to recipient: NetworkOperation) {
    let outcome = (consume ending).outcome(for: recipient)
    if case .success(let answer) = outcome {
      let isRepetition = recipient.loop.extras?.provided != nil && cacheSide.bridge.repeats(recipient, answer)
      if isRepetition { recipient.shared.withLock { $0.isRepetition = true } }
      recipient.loop.extras?.provided = nil
      if answer.isUnchanged || isRepetition { context.tell(recipient, .notModified) }
    }
    conclude(recipient, outcome)
  }

  /// Gives those who share the exchange and want no other attempt what there is; the others go on.
  func endImpatient(
    _ leader: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?, _ cause: FailedAttempt.Cause
  ) {
    let leaving = Repetition.impatient(leader, cause)
    if leaving.isEmpty { return }
    let ending = Ending(of: leader, transfer, transfer.metrics(), failure: failure)
    for recipient in leaving {
      leader.loop.extras?.fanout?.abandon(recipient.id, ending.refusal ?? NetworkError(.cancelled))
      if recipient === leader { leader.loop.isDetached = true } else { move(recipient, to: .ended) }
      hand(ending, to: recipient)
    }
  }

  func unregister(_ operation: NetworkOperation) {
    cacheSide.release(operation)
    operation.loop.cacheUse?.claim = nil
    coalescer.leave(operation)
  }
}

// MARK: For each

extension NetworkOperation {
  /// What is to be done for one that has ended.
  struct Duties {
    /// Somebody listens to its states, and this one is new.
    fileprivate var isStateHeard: Bool
    /// Its end may be told on any thread.
    fileprivate var isAwaited: Bool
    fileprivate var hasStreams = false
    /// It waits for others, or others for it.
    fileprivate var isLinked: Bool
    fileprivate var onConclusion: Conclusion?
  }

  /// The one function that ends an operation: on the loop, on the thread that enqueues (a fresh answer from the cache, a
  /// refusal) or on any that cancels. False when it has ended already, or `mayEnd` says no.
  ///
  /// - Parameter scheduler: on the loop; without it the operation never came there. Its user is told in either case.
  @discardableResult
  func end(
    with outcome: Outcome, on scheduler: Scheduler? = nil, if mayEnd: (inout Shared) -> Bool = { _ in true }
  ) -> Bool {
    guard let duties = take(outcome, if: mayEnd) else { return false }
    if let scheduler { scheduler.didEnd(self, outcome, duties) } else { didEnd(outcome, duties) }
    return true
  }

  private func take(_ outcome: Outcome, if mayEnd: (inout Shared) -> Bool) -> Duties? {
    shared.withLock { shared in
      guard shared.outcome == nil, mayEnd(&shared) else { return nil }
      let state = outcome.finalState
      let isStateHeard = shared.handlers.wantsState && shared.state != state
      shared.outcome = outcome
      shared.state = state
      let isAwaited = shared.isAwaited && !engine.hasWordAtEnds
      if shared.isPlain {
        return Duties(isStateHeard: isStateHeard, isAwaited: isAwaited, isLinked: shared.hasDependents)
      }
      return Duties(
        isStateHeard: isStateHeard, isAwaited: isAwaited, hasStreams: !shared.streams.isEmpty,
        isLinked: shared.hasDependents || !shared.dependencies.isEmpty, onConclusion: shared.onConclusion)
    }
  }

  /// Without the loop; but its streams wait there for their end.
  private func didEnd(_ outcome: Outcome, _ duties: Duties) {
    if duties.isLinked { leaveDependencies() }
    if duties.hasStreams { perform { [self] in $0.closeUnusedStreams(self, outcome) } }
    duties.isAwaited ? deliverAwaited() : engine.deliverSoon(self)
  }

  /// Any thread: it never reached the loop.
  func refuse(_ failure: NetworkError) { end(with: .failure(failure)) }

  /// Any thread: ends it with an answer that needed no loop. False when it must go there: it has streams to feed,
  /// others to wait for, or has been cancelled.
  func finish(_ outcome: Outcome) -> Bool {
    guard !engine.isClosed.load(ordering: .acquiring) else { return false }
    return end(with: outcome) { $0.streams.isEmpty && $0.dependencies.isEmpty }
  }

  /// Takes the streams, which are the loop's from now on.
  fileprivate func takeStreams() -> [StreamAttachment] {
    shared.withLock { shared in
      if shared.isPlain { return [] }
      defer { shared.streams = [] }
      return shared.streams
    }
  }
}

extension Scheduler {
  /// Ends an operation, and tells its user. What it holds here, it gives back by `move(_:to:)`.
  func conclude(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    loop.assertOnLoop()
    if case .failure(let failure) = outcome {
      operation.end(with: .failure(failure.about(operation.request.url)), on: self)
    } else {
      operation.end(with: outcome, on: self)
    }
  }

  func conclude(_ operation: NetworkOperation, _ failure: NetworkError) {
    conclude(operation, .failure(failure))
  }

  fileprivate func didEnd(
    _ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome, _ duties: NetworkOperation.Duties
  ) {
    if let onConclusion = duties.onConclusion {
      driver.decrement()
      return onConclusion(attempted(operation, outcome.result))
    }
    if duties.isStateHeard { context.tell(operation, .state(outcome.finalState)) }
    let weight = outcome.weight
    operation.engine.willDeliver(weight)
    duties.isAwaited ? resume(operation, weight) : context.tell(operation, .final(weight))
    timers.cancel(operation.loop.history?.queueDeadline)
    timers.cancel(operation.loop.history?.ownTotal)
    if duties.hasStreams { closeUnusedStreams(operation, outcome) }
    if duties.isLinked { operation.leaveDependencies(on: self) }
  }

  /// Streams of an operation that never started are closed all the same: exactly once.
  fileprivate func closeUnusedStreams(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    // Given up in any case: a stream whose closure knows the operation would keep it alive for ever.
    let streams = operation.takeStreams()
    guard case .failure(let failure) = outcome, !operation.loop.hasSinks else { return }
    operation.loop.hasSinks = true
    for stream in streams { stream.close(failure) }
  }
}

extension NetworkOperation.Outcome {
  /// For how many events it counts while its closures have not seen it: a large body is as much as many.
  fileprivate var weight: Int {
    guard case .success(let response) = self, case .bytes(let bytes) = response.body.storage else { return 1 }
    return 1 + bytes.count >> 16
  }

  /// What users are told: an operation whose request stays on the disk is frozen.
  var finalState: NetworkOperation.State {
    switch self {
    case .success: .finished
    case .failure(let failure): failure.code == .cancelled ? .cancelled : .finished
    case .handedOver: .frozen
    }
  }
}
