internal import Synchronization

/// What users ask for while operations are on their way.
extension EngineCore {
  func cancel(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    guard operation.loop.isSubmitted else { return operation.loop.isCancelledEarly = true }
    withdraw(operation, NetworkError(.cancelled))
  }

  /// It ended without ever coming here.
  func refused(_ operation: NetworkOperation, _ failure: NetworkError) {
    closeUnusedStreams(operation, .failure(failure))
    release(operation.id)
  }

  /// Ends one operation from our side. Others that share its exchange go on.
  func withdraw(_ operation: NetworkOperation, _ failure: NetworkError) {
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    if let freezer = operation.loop.extras?.freezer {
      freezer.dispatch { $0.withdraw(operation) }
      return
    }
    let failure = operation.isAttempt ? operation.loop.transfer?.sent(failure) ?? failure : failure
    if blocked.removeValue(forKey: operation.id) != nil { return conclude(operation, failure) }
    let carrier = operation.loop.extras?.carrier ?? operation
    if carrier === operation {
      operation.loop.isHollow = true
    } else {
      operation.loop.extras?.carrier = nil
      carrier.makeExtras().followersLeft -= 1
    }
    // Ended first: abandoning its sinks may be what an ending exchange waits for, and that has an answer.
    conclude(operation, failure)
    carrier.loop.extras?.fanout?.abandon(operation.id, failure)
    if carrier.loop.isHollow, carrier.loop.followersLeft == 0 { endExchange(carrier, failure) }
  }

  /// Everybody has left: takes a carrier out of wherever it is, without telling anybody.
  private func endExchange(_ operation: NetworkOperation, _ failure: NetworkError) {
    if ending[operation.id] != nil { return }  // over already; its sinks are finishing
    unregister(operation)
    parked[operation.id] = nil
    delayed[operation.id] = nil
    asking[operation.id] = nil
    playing[operation.id] = nil
    operation.loop.extras?.playback?.stop()
    operation.loop.extras?.playback = nil
    timers.cancel(operation.loop.journey?.delay)
    if let ticket = operation.loop.ticket {
      operation.loop.ticket = nil
      queue.remove(ticket)
    }
    if let transfer = operation.loop.transfer { stop(transfer, of: operation, failure) }
    let fanout = operation.loop.extras?.fanout
    operation.loop.extras?.fanout = nil
    fanout?.finish(failure) {}
  }

  private func stop(_ transfer: Transfer, of operation: NetworkOperation, _ failure: NetworkError) {
    operation.loop.transfer = nil
    let hadSlot = transfer.slot >= 0
    leaveRunning(transfer)
    transfer.fail(failure)
    _ = transfer.end(code: nil)
    if hadSlot { freeSlot(of: operation) }
    recycle(transfer, operation)
  }

  /// Streams of an operation that never started are closed all the same: exactly once.
  func closeUnusedStreams(_ operation: NetworkOperation, _ outcome: NetworkOperation.Outcome) {
    // Given up in any case: a stream whose closure knows the operation would keep it alive for ever.
    let streams = operation.takeStreams()
    guard case .failure(let failure) = outcome, !operation.loop.hasSinks else { return }
    operation.loop.hasSinks = true
    for stream in streams { stream.close(failure) }
  }

  // MARK: Priority, pause

  func reprioritise(_ operation: NetworkOperation) {
    let carrier = operation.loop.extras?.carrier ?? operation
    raise(carrier, to: highestPriority(carrier))
  }

  /// Stops reading and frees the slot. A shared exchange goes on for the others.
  func pause(_ operation: NetworkOperation) {
    guard !operation.loop.isPaused, operation.loop.extras?.carrier == nil,
      operation.loop.followersLeft == 0
    else {
      return
    }
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    if let ticket = operation.loop.ticket {
      queue.remove(ticket)
      operation.loop.ticket = nil
    } else if let transfer = operation.loop.transfer, transfer.slot >= 0 {
      transfer.pauseByUser()
      leaveRunning(transfer)
      freeSlot(of: operation)
    } else {
      return
    }
    operation.loop.isPaused = true
    parked[operation.id] = operation
    unregister(operation)
    set(.paused, operation)
  }

  func resume(_ operation: NetworkOperation) {
    guard operation.loop.isPaused, operation.shared.withLock({ $0.outcome == nil }) else { return }
    operation.loop.isPaused = false
    parked[operation.id] = nil
    set(.queued, operation)
    wait(operation, operation.request.priority, atFront: true)
  }

  private func freeSlot(of operation: NetworkOperation) {
    guard let origin = operation.loop.origin else { return }
    queue.finished(origin.id)
    apply(.abandoned, to: origin, now: MonotonicClock.now)
  }

  // MARK: Many at once

  /// Ends every operation that matches.
  func cancelAll(
    _ failure: NetworkError = NetworkError(.cancelled), where matches: (NetworkOperation) -> Bool
  ) {
    loop.assertOnLoop()
    for operation in everyone() where operation.shared.withLock({ $0.outcome == nil }) {
      // Attempts for frozen requests are nobody's to cancel; they end with their engine.
      if operation.isAttempt && failure.code == .cancelled { continue }
      if matches(operation) { withdraw(operation, failure) }
    }
  }

  func endAll(_ failure: NetworkError) { cancelAll(failure) { _ in true } }

  /// All that have not ended.
  func everyone() -> [NetworkOperation] {
    var carriers = Array(blocked.values)
    queue.forEachWaiting { _, operation in carriers.append(operation) }
    for transfer in running {
      if let operation = transfer.owner as? NetworkOperation { carriers.append(operation) }
    }
    carriers.append(contentsOf: parked.values)
    carriers.append(contentsOf: delayed.values)
    carriers.append(contentsOf: asking.values)
    carriers.append(contentsOf: ending.values)
    carriers.append(contentsOf: playing.values)
    toPlay.forEach { carriers.append($0.operation) }
    return carriers.flatMap { $0.loop.followers + [$0] }
  }

  /// Ends an engine's operations with `engineClosed` when the deadline has passed, and calls back, on the
  /// engine's delivery target, once all its final events are delivered.
  func shutDown(_ context: EngineContext, deadline: Duration, done: @escaping @Sendable () -> Void) {
    let mine = everyone().filter {
      $0.context === context && !$0.isAttempt && $0.shared.withLock { $0.outcome == nil }
    }
    let countdown = Countdown(mine.count + 2) { context.deliverLate(done) }
    leaveFrozen(context, deadline: deadline) { countdown.signal() }
    // Behind those that have ended and whose closures have not run yet.
    tell(NetworkOperation(NetworkRequest(url: ""), context: context), .mark { countdown.signal() })
    for operation in mine { operation.add(.ended { countdown.signal() }) }
    guard !mine.isEmpty || context.freezing != nil else { return }
    timers.after(milliseconds: deadline.milliseconds) { [unowned self] in
      cancelAll(NetworkError(.engineClosed)) { $0.context === context }
    }
  }

  /// `done` comes when nothing frozen of this engine is on its way any more.
  private func leaveFrozen(
    _ context: EngineContext, deadline: Duration, _ done: @escaping @Sendable () -> Void
  ) {
    guard let freezer = context.freezing?.freezer else { return done() }
    if freezer.leave(context, deadline: deadline, done) { return }
    done()
  }

  // MARK: Settings

  func apply(_ new: NetworkQueue.Configuration) {
    settings = new
    queue.maximumConcurrent = new.maximumConcurrent
    let goesOn = queue.isSuspended && !new.isSuspended
    queue.isSuspended = new.isSuspended
    if goesOn { for dispatcher in dispatchers.values { dispatcher.perform { $0.thaw() } } }
    watchLinkIfNeeded()
    for origin in origins.all {
      origin.sizing.sizing = new.sizing
      origin.sizing.maximum = new.maximumPerOrigin
      updateLimit(of: origin, now: MonotonicClock.now)
    }
    loop.markDirty()
  }
}
