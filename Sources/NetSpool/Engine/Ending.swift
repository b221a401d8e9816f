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
    let history = operation.loop.history
    self.failure = history?.redirects == nil ? failure : failure?.about(transfer.url)
    guard var head = transfer.exchange.head else { return }
    head.trailers = transfer.trailers
    var metrics = measured
    metrics.attempts = history?.attempts ?? 1
    // libcurl has sent it again by itself, for a connection that was gone or a stream that was refused.
    if !transfer.exchange.plan.hasRounds { metrics.attempts += max(0, transfer.exchange.sends - 1) }
    metrics.nameLookupTime += history?.lookupTime ?? 0
    metrics.redirects = history?.redirects?.hops ?? 0
    let begun = history.flatMap { $0.firstStart == 0 ? nil : $0.firstStart } ?? transfer.exchange.startedAt
    metrics.queueWaitTime = max(0, begun - operation.loop.submittedAt)
    answer = NetworkResponse(
      head: head, body: ResponseBytes(transfer.takeCollected()), source: .network,
      finalURL: transfer.url, metrics: metrics, streams: [])
    // Most are whole, which costs nothing to say.
    if failure == nil, transfer.completeness != .whole { answer?.completeness = .closeDelimited }
  }

  /// What the streams are told; nil: their body is whole. The page of an error is none.
  var refusal: NetworkError? {
    failure ?? answer.flatMap { $0.head.status >= 300 ? NetworkError(status: $0) : nil }
  }

  /// For an operation that shares it; the last of them gets the answer itself, and no copy.
  consuming func outcome(for recipient: NetworkOperation) -> NetworkOperation.Outcome {
    var answer = answer.take()
    answer?.metrics.endToEndTime = MonotonicClock.now - recipient.loop.submittedAt
    if var failure = recipient.loop.extras?.sinkFailure ?? failure {
      failure.response = failure.response ?? answer
      return .failure(failure)
    }
    guard var answer else { return .failure(NetworkError(.cancelled)) }
    if let fanout {
      answer.streams = fanout.reports(of: recipient.id)
      // Another that shares it may have wanted it in memory.
      if recipient.hasStreams, answer.head.status < 300 { answer.body = .empty }
    }
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
    context.limitStreams(of: leader)
    sinks.watch.begin(leader)
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

  /// An operation that has left meanwhile has had its end.
  private func hand(_ ending: consuming Ending, to waiter: NetworkOperation, of leader: NetworkOperation) {
    guard waiter.leader === leader else { return }
    move(waiter, to: .ended)
    hand(consume ending, to: waiter)
  }

  private func hand(_ ending: consuming Ending, to recipient: NetworkOperation) {
    let outcome = (consume ending).outcome(for: recipient)
    if case .success(let answer) = outcome {
      // Its user has been given these very bytes from the cache, and asked to hear of changes only.
      let isRepetition =
        recipient.loop.extras?.provided.map { provided in
          recipient.sent.notifiesOnlyChanges && answer.body.hasSameBytes(as: provided)
        } ?? false
      if isRepetition { recipient.shared.withLock { $0.isRepetition = true } }
      recipient.loop.extras?.provided = nil
      if answer.isUnchanged || isRepetition { context.tell(recipient, .notModified) }
    }
    conclude(recipient, outcome)
  }

  /// Gives the operations that share the exchange and have no other attempt what there is; the others go on.
  func endImpatient(
    _ leader: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?, _ cause: FailedAttempt.Cause
  ) {
    let leaving = Repetition.impatient(leader, transfer, cause)
    if !leaving.isEmpty {
      let ending = Ending(of: leader, transfer, transfer.metrics(), failure: failure)
      end(leaving.filter { !goesOnWithStale($0, leader, transfer, ending) }, of: leader, ending)
    }
    guard transfer.exchange.hasStreamed, leader.partToGoOnWith == nil else { return }
    // No stream is left that has got some of this body, and the next begins with its first byte.
    let fanout = leader.loop.extras?.fanout
    leader.loop.extras?.fanout = nil
    leader.loop.cacheUse?.hasOpenedStreams = false
    fanout?.finish(failure ?? NetworkError(.cancelled)) {}
  }

  /// An older answer takes the place of its last attempt, as it would of the exchange's end.
  private func goesOnWithStale(
    _ waiter: NetworkOperation, _ leader: NetworkOperation, _ transfer: Transfer, _ ending: Ending
  ) -> Bool {
    guard waiter !== leader, !waiter.loop.hasSinks, waiter.loop.extras?.provided == nil,
      let use = leader.loop.cacheUse,
      let held = cacheSide.bridge.standIn(use, leader, transfer, ending)
    else { return false }
    setApart(waiter)
    waiter.makeHistory().attempts = leader.loop.history?.attempts ?? 1
    waiter.loop.cacheUse = CacheUse(use.cache, use.question, held: held)
    go(waiter, from: cacheSide.answer(waiter, held, or: ending))
    return true
  }

  private func end(_ leaving: [NetworkOperation], of leader: NetworkOperation, _ ending: Ending) {
    var ending = ending
    ending.failure?.attempts = ending.answer?.metrics.attempts ?? leader.loop.history?.attempts ?? 1
    for recipient in leaving {
      if case .following = recipient.loop.phase {
        publish(recipient, ending)
        continue
      }
      leader.loop.extras?.fanout?.abandon(recipient.id, ending.refusal ?? NetworkError(.cancelled))
      if recipient === leader { leader.loop.isDetached = true } else { move(recipient, to: .ended) }
      hand(ending, to: recipient)
    }
  }

  // MARK: Those that read a spool

  /// Another attempt follows. The operations that were to read the spool of this one share that.
  func letFollowersShare(_ leader: NetworkOperation) {
    for follower in leader.loop.waiters {
      guard case .following(leader, _) = follower.loop.phase else { continue }
      follower.loop.extras?.lateBody = nil
      follower.loop.extras?.fanout = nil
      move(follower, to: .sharing(leader))
    }
  }

  /// The exchange is over. The operations that read its spool end when they have read it, and with a failure at once.
  func letFollowersEnd(_ leader: NetworkOperation, _ ending: Ending) {
    for follower in leader.loop.waiters {
      guard case .following(leader, let playback) = follower.loop.phase else { continue }
      if ending.refusal != nil {
        publish(follower, ending)
        continue
      }
      move(follower, to: .playing(playback))
      if let total = follower.timeLimits(follower.request).total {
        context.limit(follower, to: total.microseconds - (MonotonicClock.now - playback.startedAt))
      }
      playback.finish { [unowned self, ending] in
        var ending = ending
        if let body = follower.loop.extras?.lateBody { ending.answer?.body = ResponseBytes(body.take()) }
        publish(follower, ending)
      }
    }
  }

  /// The disk took no more of a body that is still being read. Whose streams have got none of it asks for itself.
  func didLoseSpool(_ operation: NetworkOperation) {
    switch operation.loop.phase {
    case .following, .playing: break
    default: return
    }
    guard !operation.loop.hasSinks else {
      return withdraw(operation, NetworkError(.storeFailed, reason: "spool", sendState: .answered))
    }
    let leader = operation.leader
    setApart(operation)
    endIfLeft(leader)
    go(operation, from: .enter)
  }

  func unregister(_ operation: NetworkOperation) {
    cacheSide.validations.release(operation)
    operation.loop.cacheUse?.claim = nil
    coalescer.leave(operation)
  }
}

extension Scheduler {
  /// Ends an operation and those that follow it with an answer from the cache; streams get its body.
  func answer(_ operation: NetworkOperation, _ response: NetworkResponse) -> Step {
    if (300..<400).contains(response.head.status), response.head.status != 304 {
      let next = successors.redirect(operation, response.head)
      cacheSide.validations.release(operation)
      if let next { return .next(next) }
    }
    unregister(operation)
    guard operation.streamsAnswer else { return .end(Ending(response)) }
    for recipient in operation.recipients { sinks.makeSinks(of: recipient, for: operation) }
    guard operation.loop.extras?.fanout != nil, response.head.status < 300 else {
      return .end(Ending(response))
    }
    loop.markDirty()  // there may be room at once
    return .wait(Wait(.playback, in: seats.rooms.playbacks(of: operation.engine), then: .play(response)))
  }

  func play(_ response: NetworkResponse, of operation: NetworkOperation) {
    let fanout = operation.loop.extras?.fanout
    var answer = response
    operation.forEachRecipient { context.didStart($0) }
    let body = answer.body
    let source = sinks.source(of: body, for: operation)
    let playback = Playback(source, head: answer.head, bytesExpected: Int64(body.count)) { fanout }
    context.limitStreams(of: operation)
    move(operation, to: .playing(playback))
    if operation.recipients.allSatisfy({ $0.hasStreams }) { answer.body = .empty }
    playback.start(opensAtOnce: true)
    playback.finish { [unowned self, answer] in publish(operation, Ending(answer)) }
  }
}

// MARK: For each

extension NetworkOperation {
  /// What is to be done for one that has ended.
  struct Duties {
    /// A handler listens to its states, and this one is new.
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
    guard let duties = take(outcome, onLoop: scheduler != nil, if: mayEnd) else { return false }
    if let scheduler { scheduler.didEnd(self, outcome, duties) } else { didEnd(outcome, duties) }
    return true
  }

  private func take(_ outcome: Outcome, onLoop isOnLoop: Bool, if mayEnd: (inout Shared) -> Bool) -> Duties? {
    shared.withLock { shared in
      guard shared.outcome == nil, mayEnd(&shared) else { return nil }
      let state = outcome.finalState
      let isStateHeard = shared.handlers.wantsState && shared.state != state
      shared.outcome = outcome
      shared.state = state
      shared.handlers.noteEnd(onLoop: isOnLoop)
      let isAwaited = shared.isAwaited && !engine.hasWordAtEnds
      if shared.isPlain {
        return Duties(isStateHeard: isStateHeard, isAwaited: isAwaited, isLinked: shared.hasDependents)
      }
      return Duties(
        isStateHeard: isStateHeard, isAwaited: isAwaited, hasStreams: !shared.rare.streams.isEmpty,
        isLinked: shared.hasDependents || !shared.rare.dependencies.isEmpty,
        onConclusion: shared.rare.onConclusion)
    }
  }

  /// Without the loop; but its streams wait there for their end.
  private func didEnd(_ outcome: Outcome, _ duties: Duties) {
    if duties.hasStreams {
      port.perform(of: engine.id) { [self] _ in
        closeUnusedStreams(outcome)
      } otherwise: { [self] in
        closeUnusedStreams(outcome)
      }
    }
    duties.isAwaited ? deliverAwaited() : engine.deliverSoon(self, outcome.weight)
    // Those that waited for it come behind it.
    if duties.isLinked { leaveDependencies() }
  }

  /// Any thread: it never reached the loop.
  func refuse(_ failure: NetworkError) { end(with: .failure(failure)) }

  /// Any thread: ends it with what the cache has for it, which needs no loop. False when it must go there: it has streams
  /// to feed, others to wait for, or has been paused or cancelled.
  func finish(_ response: NetworkResponse, from cache: EngineCache) -> Bool {
    guard !engine.isClosed else { return false }
    let bytes = response.bodyCount
    return end(with: .success(response)) { shared in
      guard shared.mayEndAtOnce else { return false }
      cache.didServe(bytes)
      return true
    }
  }
}

extension Scheduler {
  /// Ends an operation, and tells its user. What it holds here, it gives back by `move(_:to:)`.
  func conclude(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    loop.assertOnLoop()
    if case .failure(var failure) = outcome {
      let mayHaveActed = operation.loop.history?.mayHaveActed == true
      if failure.isRetrySafe, mayHaveActed { failure.sendState = .maybeProcessed }
      operation.end(with: .failure(failure.about(operation.whereItIs)), on: self)
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
      operation.endTrace(outcome.result)
      return onConclusion(outcome.result)
    }
    if duties.isStateHeard { context.tell(operation, .state(outcome.finalState)) }
    let weight = outcome.weight
    operation.engine.willDeliver(weight)
    duties.isAwaited ? context.resume(operation, weight) : context.tell(operation, .final(weight))
    timers.cancel(operation.loop.history?.queueDeadline)
    timers.cancel(operation.loop.history?.ownTotal)
    if duties.hasStreams { operation.closeUnusedStreams(outcome) }
    if duties.isLinked { operation.leaveDependencies(on: self) }
  }

}

extension NetworkOperation {
  /// Streams of an operation that never started are closed all the same: exactly once. On the loop, or where there is none.
  fileprivate func closeUnusedStreams(_ outcome: Outcome) {
    // Given up in any case: a stream whose closure knows the operation would keep it alive for ever.
    let streams = shared.withLock { shared in
      defer { shared.rare.streams = [] }
      return shared.rare.streams
    }
    guard case .failure(let failure) = outcome, !loop.hasSinks else { return }
    loop.hasSinks = true
    for stream in streams { stream.close(failure) }
  }
}

extension NetworkOperation.Outcome {
  /// For how many events it counts while its closures have not seen it: a large body is as much as many.
  fileprivate var weight: Int {
    if case .success(let response) = self { 1 + response.bodyBytesInMemory >> 16 } else { 1 }
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
