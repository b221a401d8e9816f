/// The limits of time of operations that wait, share or stream. Loop thread.
extension LoopContext {
  func startQueueDeadline(_ operation: NetworkOperation, _ deadline: Duration) {
    let timer = timers.after(milliseconds: deadline.milliseconds) { [unowned self, weak operation] in
      guard let operation else { return }
      var failure = NetworkError(.timedOut, cause: .queueDeadline)
      if case .route? = operation.leader.currentWait?.reason {
        failure = NetworkError(.offline, cause: .allowedInterfaces)
      }
      withdraw(operation, failure)
    }
    operation.makeHistory().queueDeadline = timer
  }

  /// Goes on with what is left of it, where one that has begun waits once more.
  func goOnWithQueueDeadline(_ operation: NetworkOperation) {
    guard let left = operation.queueTimeLeft else { return }
    timers.cancel(operation.loop.history?.queueDeadline)
    startQueueDeadline(operation, max(.zero, left))
  }

  /// The body is there, but who reads it may never take the rest: what is left of each one's total is for that.
  func limitStreams(of leader: NetworkOperation) { leader.forEachRecipient { limitStreams(of: $0, leader) } }

  func limitStreams(of recipient: NetworkOperation, _ leader: NetworkOperation) {
    guard let left = recipient.totalLeft(with: leader, on: nil) else { return }
    limit(recipient, to: left)
  }

  func limit(_ recipient: NetworkOperation, to left: Microseconds) {
    guard recipient.loop.history?.ownTotal == nil else { return }
    let left = max(0, left)
    let timer = timers.after(milliseconds: UInt64(left / 1000) + 1) {
      [unowned self, weak recipient] in
      if let recipient { withdraw(recipient, NetworkError(.timedOut, cause: .total)) }
    }
    let history = recipient.makeHistory()
    (history.ownTotal, history.ownTotalEnds) = (timer, MonotonicClock.now + left)
  }

  /// Its user pauses it, and that is not the origin's time.
  func holdTotal(of operation: NetworkOperation) {
    guard let history = operation.loop.history, let timer = history.ownTotal.take() else { return }
    timers.cancel(timer)
    history.ownTotalLeft = history.ownTotalEnds - MonotonicClock.now
  }

  /// It has its slot again, or another exchange: before that, nothing of its total is spent.
  func goOnWithTotal(of operation: NetworkOperation) {
    guard let history = operation.loop.history, let left = history.ownTotalLeft,
      let transfer = operation.loop.transfer
    else { return }
    history.ownTotalLeft = nil
    widenLimits(operation, transfer, for: operation, wanting: .microseconds(left))
  }

  /// The same of a leader whose exchange goes on for others meanwhile, by their limits.
  func holdTotal(ofLeader leader: NetworkOperation) {
    let left = leader.totalLeft(with: leader, on: leader.loop.transfer)
    holdTotal(of: leader)
    if let left, leader.loop.history?.ownTotalLeft == nil { leader.makeHistory().ownTotalLeft = left }
  }

  /// It has lost its exchange: what it has spent is its own.
  func keepTotal(ofLeader leader: NetworkOperation) {
    guard let history = leader.loop.history, let left = history.ownTotalLeft.take() else { return }
    history.spent = max(0, (leader.timeLimits(leader.sent).total?.microseconds ?? left) - left)
    history.spentBefore = history.spent
  }

  func goOnWithTotal(ofLeader leader: NetworkOperation) {
    if leader.timeLimits(leader.sent).total != nil { return goOnWithTotal(of: leader) }
    if let transfer = leader.loop.transfer { widenLimits(leader, transfer, for: leader, wanting: nil) }
  }

  /// The exchange lives as long as the most patient wants; who wants less has an end of its own.
  func limitEach(_ leader: NetworkOperation, _ transfer: Transfer) {
    leader.forEachRecipient { if $0.loop.history?.ownTotalLeft == nil { limit($0, of: leader, transfer) } }
  }

  /// Gives the exchange the time that one wants from now on, too, who has just joined it.
  func widenLimits(
    _ leader: NetworkOperation, _ transfer: Transfer, for operation: NetworkOperation,
    wanting total: Duration?
  ) {
    guard let deadlines = transfer.exchange.deadlines else { return }
    let spent = deadlines.spent(now: MonotonicClock.now)
    let left = deadlines.timeouts.total.map { $0.microseconds - spent }
    var limits = operation.timeLimits(operation.sent)
    let wanted = total?.microseconds
    let isLonger = left.map { left in wanted.map { $0 > left + Self.tolerance } ?? true } ?? false
    limits.total = isLonger ? wanted.map { .microseconds($0 + spent) } : deadlines.timeouts.total
    let before = leader.loop.history.map { $0.spent - $0.spentBefore } ?? 0
    limits.attempt = limits.attempt.map { .microseconds(max(1, $0.microseconds - before)) }
    transfer.exchange.deadlines?.widen(limits)
    if isLonger, let left { return limitOthers(leader, transfer, but: operation, to: left) }
    if let wanted, left.map({ wanted < $0 - Self.tolerance }) ?? true { limit(operation, to: wanted) }
  }

  /// Gives an end of their own to those that have gone by the exchange's so far: to all but the one that has come.
  private func limitOthers(
    _ leader: NetworkOperation, _ transfer: Transfer, but last: NetworkOperation, to left: Microseconds
  ) {
    let waiters = leader.loop.waiters.dropLast(last === leader ? 0 : 1)
    if last !== leader, !leader.loop.isDetached { limit(leader, to: left) }
    for waiter in waiters.dropFirst(transfer.exchange.waitersLimited) where waiter.leader === leader {
      limit(waiter, to: left)
    }
    transfer.exchange.waitersLimited = waiters.count
  }

  /// Deadlines are looked at so often.
  private static let tolerance: Microseconds = 50_000

  private func limit(_ recipient: NetworkOperation, of leader: NetworkOperation, _ transfer: Transfer) {
    let longest = transfer.exchange.deadlines?.timeouts.total?.microseconds
    guard let left = recipient.totalLeft(with: leader, on: transfer) else { return }
    if longest.map({ $0 > left + Self.tolerance }) ?? true { limit(recipient, to: left) }
  }
}

extension NetworkOperation {
  /// Without the time that it was under way; nil: it has no such deadline.
  var queueTimeLeft: Duration? {
    let waited = MonotonicClock.now - loop.submittedAt - spent(on: loop.transfer)
    return sent.limits(of: engine).queueDeadline.map { $0 - .microseconds(waited) }
  }

  /// What is left of its total in an exchange; nil: it has none.
  fileprivate func totalLeft(with leader: NetworkOperation, on transfer: Transfer?) -> Microseconds? {
    timeLimits(sent).total.map { $0.microseconds - spent(with: leader, on: transfer) }
  }

  /// A shared operation is as urgent as the most urgent of those that wait for it.
  var highestPriority: NetworkRequest.Priority {
    loop.waitersLeft == 0 ? sentPriority : recipients.map(\.sentPriority).max() ?? .low
  }
}
