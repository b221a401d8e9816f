internal import Synchronization

/// What users ask for while operations are on their way.
extension EngineCore {
  func cancel(_ operation: Operation) {
    loop.assertOnLoop()
    withdraw(operation, Failure(.cancelled))
  }

  /// Ends one operation from our side. Others that share its exchange go on.
  func withdraw(_ operation: Operation, _ failure: Failure) {
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    if blocked.removeValue(forKey: operation.id) != nil { return conclude(operation, failure) }
    if let carrier = operation.loop.carrier {
      carrier.loop.followersLeft -= 1
      carrier.loop.fanout?.abandon(operation.id, failure)
      operation.loop.carrier = nil
      conclude(operation, failure)
      return endIfAlone(carrier)
    }
    operation.loop.isHollow = true
    operation.loop.fanout?.abandon(operation.id, failure)
    if operation.loop.followersLeft > 0 { return conclude(operation, failure) }
    endExchange(operation, failure)
    conclude(operation, failure)
  }

  /// Everybody has left an exchange.
  private func endIfAlone(_ carrier: Operation) {
    guard carrier.loop.isHollow, carrier.loop.followersLeft == 0 else { return }
    endExchange(carrier, Failure(.cancelled))
  }

  /// Takes a carrier out of wherever it is, without telling anybody.
  private func endExchange(_ operation: Operation, _ failure: Failure) {
    unregister(operation)
    parked[operation.id] = nil
    timers.cancel(operation.loop.journey?.delay)
    timers.cancel(operation.loop.journey?.queueDeadline)
    if let ticket = operation.loop.ticket {
      operation.loop.ticket = nil
      queue.remove(ticket)
    }
    if let transfer = operation.loop.transfer { stop(transfer, of: operation, failure) }
    guard let fanout = operation.loop.fanout else { return closeUnusedStreams(operation, failure) }
    operation.loop.fanout = nil
    fanout.finish(failure) {}
  }

  private func stop(_ transfer: Transfer, of operation: Operation, _ failure: Failure) {
    operation.loop.transfer = nil
    let hadSlot = transfer.slot >= 0
    leaveRunning(transfer)
    transfer.fail(failure)
    _ = transfer.end(code: nil)
    if hadSlot { freeSlot(of: operation) }
    recycle(transfer, operation)
  }

  /// Streams of an operation that never started are closed all the same: exactly once.
  func closeUnusedStreams(_ operation: Operation, _ failure: Failure) {
    let streams = operation.shared.withLock { $0.streams }
    guard !streams.isEmpty, !operation.loop.hasSinks else { return }
    operation.loop.hasSinks = true
    for stream in streams { stream.close(failure) }
  }

  // MARK: Priority, pause

  package func reprioritise(_ operation: Operation) {
    raise(operation.loop.carrier ?? operation, to: operation.request.priority)
  }

  /// Stops reading and frees the slot. A shared exchange goes on for the others.
  package func pause(_ operation: Operation) {
    guard !operation.loop.isPaused, operation.loop.carrier == nil, operation.loop.followersLeft == 0 else {
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

  package func resume(_ operation: Operation) {
    guard operation.loop.isPaused, operation.shared.withLock({ $0.outcome == nil }) else { return }
    operation.loop.isPaused = false
    parked[operation.id] = nil
    set(.queued, operation)
    wait(operation, operation.request.priority, atFront: true)
  }

  private func freeSlot(of operation: Operation) {
    guard let origin = operation.loop.origin else { return }
    queue.finished(origin.id)
    apply(.abandoned, to: origin, now: MonotonicClock.now)
  }

  // MARK: Many at once

  /// Ends every operation that matches.
  package func cancelAll(_ failure: Failure = Failure(.cancelled), where matches: (Operation) -> Bool) {
    loop.assertOnLoop()
    for operation in everyone() where matches(operation) { withdraw(operation, failure) }
  }

  func endAll(_ failure: Failure) { cancelAll(failure) { _ in true } }

  /// All that have not ended.
  func everyone() -> [Operation] {
    var carriers = Array(blocked.values)
    queue.forEachWaiting { _, operation in carriers.append(operation) }
    for transfer in running {
      if let operation = transfer.owner as? Operation { carriers.append(operation) }
    }
    carriers.append(contentsOf: parked.values)
    return carriers.flatMap { $0.loop.followers + [$0] }
  }

  /// Ends an engine's operations with `engineClosed` when the deadline has passed, and calls back, on the
  /// engine's delivery target, once all its final events are delivered.
  func shutDown(_ context: EngineContext, seconds: Double, done: @escaping @Sendable () -> Void) {
    let mine = everyone().filter { $0.context === context && $0.shared.withLock { $0.outcome == nil } }
    guard !mine.isEmpty else { return context.deliverLate(done) }
    let countdown = Countdown(mine.count) { context.deliverLate(done) }
    for operation in mine { operation.onFinal { _ in countdown.signal() } }
    timers.after(milliseconds: UInt64(max(0, seconds) * 1000)) { [unowned self] in
      cancelAll(Failure(.engineClosed)) { $0.context === context }
    }
  }

  // MARK: Settings

  package func apply(_ new: QueueSettings) {
    settings = new
    queue.maximumConcurrent = new.maximumConcurrent
    queue.isSuspended = new.isSuspended
    for origin in origins.all {
      origin.sizing.sizing = new.sizing
      origin.sizing.maximum = new.maximumPerOrigin
      updateLimit(of: origin, now: MonotonicClock.now)
    }
    loop.markDirty()
  }
}
