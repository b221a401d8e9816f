internal import Synchronization

/// How an operation comes in: checked, coalesced, queued.
extension Scheduler {
  func submit(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    operations.lastSubmittedAt = max(MonotonicClock.now, operations.lastSubmittedAt + 1)
    operation.loop.submittedAt = operations.lastSubmittedAt
    let (isDependent, isHeard) = operation.shared.withLock { shared in
      operation.loop.change = shared.changed
      if shared.isPlain { return (false, shared.handlers.wantsState) }
      operation.loop.hasStreams = !shared.streams.isEmpty
      return (!shared.dependencies.isEmpty, shared.handlers.wantsState)
    }
    if isHeard { context.tell(operation, .state(.queued)) }
    operation.withSent { submit(operation, $0, isDependent) }
  }

  private func submit(_ operation: NetworkOperation, _ request: NetworkRequest, _ isDependent: Bool) {
    do throws(NetworkError) {
      if context.isClosing { throw NetworkError(.engineClosed) }
      if operation.loop.isCancelledEarly { throw NetworkError(.cancelled) }
      operation.loop.origin = try locate(operation, request)
      if let deadline = request.limits(of: operation.engine).queueDeadline {
        startQueueDeadline(operation, deadline)
      }
      // Others must end first.
      if isDependent, NetworkOperation.dependencies.withLock({ $0.block(operation, as: operation.id) }) {
        return move(operation, to: .waiting(.others))
      }
    } catch {
      move(operation, to: .ended)
      return conclude(operation, error)
    }
    go(operation, from: .enter)
  }

  /// Where it goes. What no origin may ever see is refused here, before anything is queued.
  private func locate(_ operation: NetworkOperation, _ request: NetworkRequest) throws(NetworkError) -> Origin
  {
    let found = try origins.find(request.url)
    guard let canonical = found.canonical else { return found.origin }
    let history = ExchangeHistory(request)
    history.target.url = canonical.pieces.text
    if let user = canonical.user {
      history.authentication.credential = NetworkCredentials(
        scheme: .basic(user: user, password: Secret(canonical.password ?? ""), preemptive: true))
      do throws(NetworkError) { try history.authentication.credential?.check() } catch {
        throw NetworkError(.invalidURL, reason: "userinfo")
      }
    }
    operation.loop.history = history
    return found.origin
  }

  func enter(_ operation: NetworkOperation, _ request: NetworkRequest) -> Step {
    if operation.loop.isHeld { return .pause }
    if operation.loop.origin == nil { return .goBack }
    return request.isFreezable ? .freeze : .share(isAsked: false)
  }

  func lineUp(_ operation: NetworkOperation, atFront: Bool) {
    guard let origin = operation.loop.origin else { return }
    operation.loop.history?.waitingSince = MonotonicClock.now
    let ticket = context.queue.enqueue(
      operation, origin: origin.id, priority: operation.loop.priority, atFront: atFront,
      goesFirst: operation.engine.seats.letNextGoFirst())
    move(operation, to: .waiting(.turn(ticket)))
    origins.noteTotal(of: operation, at: origin)
  }

  /// Follows an equal request; false when its body is already gone by.
  func join(_ operation: NetworkOperation, _ leader: NetworkOperation) -> Bool {
    var playback: Playback?
    if let transfer = leader.loop.transfer, !transfer.exchange.hasSuccessor {
      playback = makePlayback(of: transfer, for: operation)
    }
    if playback == nil, let transfer = leader.loop.transfer, !transfer.exchange.hasSuccessor {
      guard transfer.hasWholeBeginning else { return false }
      if !operation.hasStreams, transfer.bodyUse != nil, !transfer.collectFromNow() { return false }
      if operation.hasStreams { addSinks(of: operation, to: leader) }
    }
    leader.makeExtras().waiters.append(operation)
    if let origin = leader.loop.origin { origins.noteTotal(of: operation, at: origin) }
    move(operation, to: playback.map { .following(leader, $0) } ?? .sharing(leader))
    if let transfer = leader.loop.transfer {
      didStart(operation)
      let longest = transfer.exchange.deadlines?.timeouts.total
      transfer.exchange.deadlines?.widen(operation.timeLimits(operation.sent))
      // Only when the exchange has more time than before, the others need ends of their own.
      let isAsBefore = transfer.exchange.deadlines?.timeouts.total == longest
      if isAsBefore { limit(operation, of: leader, transfer) } else { limitEach(leader, transfer) }
    }
    switch leader.currentWait?.reason {
    case .validation?, .claim?: limitStreams(of: operation, leader)
    default: break
    }
    if let early = leader.loop.cacheUse?.early { cacheSide.provide(operation, early) }
    if operation.sentPriority > leader.loop.priority { raise(leader, to: operation.sentPriority) }
    playback?.start()
    return true
  }

  /// The body is there, but who reads it may never take the rest: what is left of each one's total is for that.
  func limitStreams(of leader: NetworkOperation) {
    leader.forEachRecipient { limitStreams(of: $0, leader) }
  }

  private func limitStreams(of recipient: NetworkOperation, _ leader: NetworkOperation) {
    guard let total = recipient.timeLimits(recipient.sent).total else { return }
    limit(recipient, to: total.microseconds - leader.spent(on: nil))
  }

  func limit(_ recipient: NetworkOperation, to left: Microseconds) {
    guard recipient.loop.history?.ownTotal == nil else { return }
    let timer = timers.after(milliseconds: UInt64(max(0, left) / 1000) + 1) {
      [unowned self, weak recipient] in
      if let recipient { withdraw(recipient, NetworkError(.timedOut, cause: .total)) }
    }
    recipient.makeHistory().setOwnTotal(timer, at: MonotonicClock.now + left)
  }

  /// The exchange lives as long as the most patient wants; who wants less has an end of its own.
  func limitEach(_ leader: NetworkOperation, _ transfer: Transfer) {
    leader.forEachRecipient { limit($0, of: leader, transfer) }
  }

  private func limit(_ recipient: NetworkOperation, of leader: NetworkOperation, _ transfer: Transfer) {
    let longest = transfer.exchange.deadlines?.timeouts.total
    guard let total = recipient.timeLimits(recipient.sent).total, longest.map({ $0 > total }) ?? true
    else { return }
    // Who has just come begins now.
    let spent = recipient === leader ? leader.spent(on: transfer) : 0
    limit(recipient, to: total.microseconds - spent)
  }

  /// A shared operation is as urgent as the most urgent of those that wait for it.
  func highestPriority(_ leader: NetworkOperation) -> NetworkRequest.Priority {
    if leader.loop.waitersLeft == 0 { return leader.sentPriority }
    return leader.recipients.map(\.sentPriority).max() ?? .low
  }

  func raise(_ leader: NetworkOperation, to priority: NetworkRequest.Priority) {
    leader.loop.priority = priority
    guard case .waiting(.turn(let ticket)) = leader.loop.phase else { return }
    _ = context.queue.reprioritise(ticket, to: priority)
  }

  func startQueueDeadline(_ operation: NetworkOperation, _ deadline: Duration) {
    let timer = timers.after(milliseconds: deadline.milliseconds) {
      [unowned self, weak operation] in
      guard let operation else { return }
      var failure = NetworkError(.timedOut, cause: .queueDeadline)
      if case .route? = operation.leader.currentWait?.reason {
        failure = NetworkError(.offline, reason: "allowedInterfaces")
      }
      withdraw(operation, failure)
    }
    operation.makeHistory().setQueueDeadline(timer, at: MonotonicClock.now + deadline.microseconds)
  }

  /// Its exchange runs: it has waited long enough.
  func didStart(_ operation: NetworkOperation) {
    timers.cancel(operation.loop.history?.queueDeadline)
    let use = operation.leader.loop.cacheUse
    set(use.map { $0.isConditional || $0.early != nil } ?? false ? .revalidating : .executing, operation)
  }
}
