internal import Synchronization

/// What users ask for while operations are on their way.
extension Scheduler {
  func cancel(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    if case .ready = operation.loop.phase { return operation.loop.isCancelledEarly = true }
    withdraw(operation, NetworkError(.cancelled))
  }

  /// Ends one operation from our side. Others that share its exchange go on.
  func withdraw(_ operation: NetworkOperation, _ failure: NetworkError) {
    loop.assertOnLoop()
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    let failure = operation.leader.loop.transfer?.sent(failure) ?? failure
    switch operation.loop.phase {
    case .frozen(let freezer): freezer.dispatch { $0.withdraw(operation) }
    case .ready: conclude(operation, failure)
    case .waiting(.others), .ended:
      move(operation, to: .ended)
      conclude(operation, failure)
    case .sharing(let leader):
      move(operation, to: .ended)
      abandon(leader, operation, failure)
    case .following(let leader, _):
      let fanout = operation.loop.extras?.fanout
      operation.loop.extras?.fanout = nil
      move(operation, to: .ended)
      abandon(leader, operation, failure)
      fanout?.finish(failure) {}
    case .waiting(.turn), .waiting(.until), .running, .deciding, .paused, .playing, .publishing:
      operation.loop.isDetached = true
      abandon(operation, operation, failure)
    }
  }

  /// Ended first: abandoning its sinks may be what an ending exchange waits for, and that has an answer.
  private func abandon(_ leader: NetworkOperation, _ operation: NetworkOperation, _ failure: NetworkError) {
    conclude(operation, failure)
    leader.loop.extras?.fanout?.abandon(operation.id, failure)
    endIfLeft(leader, failure)
  }

  /// Ends an exchange when everybody has left it.
  func endIfLeft(_ leader: NetworkOperation, _ failure: NetworkError = NetworkError(.cancelled)) {
    if leader.loop.isDetached, leader.loop.waitersLeft == 0 { endExchange(leader, failure) }
  }

  /// Everybody has left: takes a leader out of wherever it is, without telling anybody.
  private func endExchange(_ operation: NetworkOperation, _ failure: NetworkError) {
    switch operation.loop.phase {
    case .publishing, .ended: return  // over already; its sinks are finishing
    default: break
    }
    if operation.loop.absence == .paused, mayRejoin(operation), comesBack(operation) {
      return pause(operation)
    }
    unregister(operation)
    if let transfer = operation.loop.transfer { stop(transfer, of: operation, failure) }
    let fanout = operation.loop.extras?.fanout
    operation.loop.extras?.fanout = nil
    retire(operation)
    fanout?.finish(failure) {}
  }

  private func stop(_ transfer: Transfer, of operation: NetworkOperation, _ failure: NetworkError) {
    giveUpSlot(operation, for: .deciding)
    operation.loop.transfer = nil
    transfer.fail(failure)
    transfer.end(code: nil)
    recycle(transfer, operation)
  }

  /// Leaves the wire, if it is there, without having learned anything of the origin.
  func giveUpSlot(_ operation: NetworkOperation, for phase: NetworkOperation.Phase) {
    let isJudged = operation.isJudged
    move(operation, to: phase)
    guard isJudged, let origin = operation.loop.origin else { return }
    origins.apply(.abandoned, to: origin)
  }

  // MARK: Priority, pause

  func reprioritise(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    operation.takeChange()
    let leader = operation.leader
    context.raise(leader, to: leader.highestPriority)
  }

  /// Stops reading and frees the slot. A shared exchange goes on for the others.
  func pause(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    if operation.loop.absence != .none { return standAside(operation) }
    switch operation.loop.phase {
    case .ready: return operation.shared.withLock { $0.rare.isHeld = true }
    case .waiting(.others):
      operation.loop.isHeld = true
      return context.set(.paused, operation)
    case .sharing(let leader), .following(let leader, _): return leave(leader, operation)
    case .waiting(.until(let wait)):
      if wait.reason.isBeyondPause { return }
      if operation.loop.waitersLeft == 0 { operation.loop.history?.interrupt(wait) }
    case .waiting(.turn), .running: break
    case .deciding, .paused, .playing, .publishing, .frozen, .ended: return
    }
    if operation.loop.waitersLeft > 0 { return standAside(operation) }
    if case .running = operation.loop.phase { operation.loop.transfer?.pauseByUser() }
    unregister(operation)
    giveUpSlot(operation, for: .paused)
  }

  /// Goes its own way from here on; its streams may have got some of the shared body, and stay.
  private func leave(_ leader: NetworkOperation, _ operation: NetworkOperation) {
    guard !operation.loop.hasSinks else { return }
    let spent = operation.spent(with: leader, on: leader.loop.transfer)
    move(operation, to: .paused)
    let history = operation.makeHistory()
    (history.spent, history.spentBefore, history.ownTotalLeft) = (spent, spent, nil)
    endIfLeft(leader)
  }

  /// Leaves the exchange to the operations that wait for it, as when its user had gone; its streams may have got some of
  /// the body, and stay.
  private func standAside(_ leader: NetworkOperation) {
    guard !leader.loop.hasSinks else { return }
    if leader.loop.absence != .paused { context.holdTotal(ofLeader: leader) }
    (leader.loop.isDetached, leader.loop.absence) = (true, .paused)
    context.set(.paused, leader)
  }

  /// The answer that is on its way can be its own as well.
  private func mayRejoin(_ leader: NetworkOperation) -> Bool {
    switch leader.loop.phase {
    case .deciding, .playing, .publishing: return false
    case .waiting(.until(let wait)) where wait.reason.isBeyondPause: return false
    default: break
    }
    guard let transfer = leader.loop.transfer else { return true }
    return !leader.hasStreams && transfer.bodyUse?.collects ?? true
  }

  /// True when its user was away and is still there.
  private func comesBack(_ leader: NetworkOperation) -> Bool {
    guard leader.loop.absence != .none, leader.shared.withLock({ $0.outcome == nil }) else { return false }
    (leader.loop.isDetached, leader.loop.absence) = (false, .none)
    return true
  }

  /// The user of a leader that stood aside wants the answer after all: this one, or else, when it is over, one of its own.
  private func rejoin(_ leader: NetworkOperation) {
    guard mayRejoin(leader) else {
      leader.loop.absence = .returning
      return context.set(.queued, leader)
    }
    _ = comesBack(leader)
    context.goOnWithTotal(ofLeader: leader)
    if case .running = leader.loop.phase { context.didStart(leader) } else { context.set(.queued, leader) }
  }

  /// Has no exchange any more, which is its end, unless its user was away.
  func retire(_ leader: NetworkOperation) {
    loop.assertOnLoop()
    let isReturning = leader.loop.absence == .returning
    guard comesBack(leader) else { return move(leader, to: .ended) }
    context.keepTotal(ofLeader: leader)
    if !isReturning { return move(leader, to: .paused) }
    move(leader, to: .deciding)
    go(leader, from: stepBehindPause(leader))
  }

  func resume(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    guard operation.shared.withLock({ $0.outcome == nil }) else { return }
    if operation.loop.absence == .paused { return rejoin(operation) }
    let wasHeld = operation.loop.isHeld
    operation.loop.isHeld = false
    switch operation.loop.phase {
    case .ready: operation.shared.withLock { $0.rare.isHeld = false }
    case .waiting(.others) where wasHeld: context.set(.queued, operation)
    case .paused:
      context.set(.queued, operation)
      go(operation, from: wasHeld ? .enter : stepBehindPause(operation))
    default: break
    }
  }

  private func stepBehindPause(_ operation: NetworkOperation) -> Step {
    if operation.loop.transfer != nil { return .route(atFront: true) }
    if let provider = successors.authenticator.provider(awaitedBy: operation) { return .next(.ask(provider)) }
    if let seconds = operation.loop.history?.secondsTooSoon, seconds > 0 { return .again(after: seconds) }
    // It has followed another, or waited for long: the cache may know the answer now.
    return .consult(then: .front)
  }

  // MARK: Many at once

  /// Ends every operation that is here now and matches, some in each turn; none of them begins meanwhile.
  func cancelAll(
    _ failure: NetworkError = NetworkError(.cancelled), where matches: @escaping (NetworkOperation) -> Bool
  ) {
    loop.assertOnLoop()
    // Attempts for frozen requests are nobody's to cancel; they end with their engine.
    let sparesAttempts = failure.code == .cancelled
    let sweep = OperationSweep(until: operations.lastSubmittedAt, ends: failure) { [unowned self] operation in
      isOpen(operation) && !(operation.isAttempt && sparesAttempts) && matches(operation)
    }
    go(through: sweep, { [unowned self] in withdraw($0, failure) }) {}
  }

  /// Calls for each operation that matches, some in each turn, and then once more.
  private func go(
    through sweep: OperationSweep, _ body: @escaping (NetworkOperation) -> Void, done: @escaping () -> Void
  ) {
    operations.begin(sweep)
    context.doInPieces { [unowned self] in
      var (looked, matched) = (0, 0)
      while looked < 8 * Turn.piece, matched < Turn.piece {
        guard let operation = operations.next(of: sweep) else {
          done()
          return false
        }
        looked += 1
        if sweep.matches(operation) {
          matched += 1
          body(operation)
        }
      }
      return true
    }
  }

  /// True if it has not ended, and no store of frozen requests has it, which then sees to it.
  func isOpen(_ operation: NetworkOperation) -> Bool {
    loop.assertOnLoop()
    if case .frozen = operation.loop.phase { return false }
    return operation.shared.withLock { $0.outcome == nil }
  }

  /// Ends an engine's operations with `engineClosed` when the deadline has passed; the countdown hears of the end of each, and
  /// of its closures.
  func shutDown(_ engine: NetworkEngine, deadline: Duration, _ countdown: Countdown) {
    loop.assertOnLoop()
    let end = timers.after(milliseconds: deadline.milliseconds) { [unowned self] in
      // A loop's time is up to a turn behind.
      engine.endsAt.min(MonotonicClock.now, ordering: .relaxed)
      cancelAll(NetworkError(.engineClosed)) { $0.engine === engine }
    }
    countdown.add()
    let mine = OperationSweep(until: operations.lastSubmittedAt) { [unowned self] in
      $0.engine === engine && isOpen($0)
    }
    var hasSome = false
    go(through: mine) { operation in
      if operation.isAttempt { return }
      hasSome = true
      countdown.add()
      operation.add(.ended { countdown.signal() })
    } done: { [unowned self] in
      if !hasSome, engine.freezing == nil { timers.cancel(end) }
      // Behind those that have ended and whose closures have not run yet.
      context.tell(NetworkOperation(NetworkRequest(url: ""), engine: engine), .mark { countdown.signal() })
    }
  }

  /// `done` comes when nothing frozen of this engine is on its way any more, or the loops have ended what is: the disk may keep
  /// the store's thread for as long as it likes.
  static func leaveFrozen(
    _ engine: NetworkEngine, deadline: Duration, _ done: @escaping @Sendable () -> Void
  ) {
    guard let freezer = engine.freezing?.freezer else { return done() }
    let waiting = Mutex<(@Sendable () -> Void)?>(done)
    let tell: @Sendable () -> Void = { waiting.withLock { $0.take() }?() }
    guard freezer.dispatch({ $0.leave({ $0 === engine }, deadline: deadline, tell) }) else { return tell() }
    Later.run(after: max(.zero, deadline) + storePatience) { [weak engine] in
      guard let engine, waiting.withLock({ $0 != nil }) else { return tell() }
      let countdown = Countdown(1, tell)
      engine.driver.performEverywhere(of: engine.id) { core in
        core.giveUpFrozen(of: engine, countdown)
      } done: {
        countdown.signal()
      }
    }
  }

  private func giveUpFrozen(of engine: NetworkEngine, _ countdown: Countdown) {
    loop.assertOnLoop()
    countdown.add()
    let mine = OperationSweep(until: operations.lastSubmittedAt) { $0.engine === engine }
    go(through: mine) { [unowned self] operation in
      giveUpFrozen(operation)
    } done: { [unowned self] in
      context.tell(NetworkOperation(NetworkRequest(url: ""), engine: engine), .mark { countdown.signal() })
    }
  }

  // MARK: Settings

  /// - Parameter goesOn: the queue was suspended, and is no more.
  func applySettings() {
    loop.assertOnLoop()
    let new = driver.settings.withLock { $0 }
    if driver.width == nil { context.queue.maximumConcurrent = new.maximumConcurrent }
    context.queue.isSuspended = new.isSuspended
    origins.apply(new)
    connectivity.watchLinkIfNeeded()
    loop.markDirty()
  }
}
