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
    guard let total = recipient.timeLimits(recipient.sent).total else { return }
    limit(recipient, to: total.microseconds - leader.spent(on: nil))
  }

  func limit(_ recipient: NetworkOperation, to left: Microseconds) {
    guard recipient.loop.history?.ownTotal == nil else { return }
    let timer = timers.after(milliseconds: UInt64(max(0, left) / 1000) + 1) {
      [unowned self, weak recipient] in
      if let recipient { withdraw(recipient, NetworkError(.timedOut, cause: .total)) }
    }
    recipient.makeHistory().ownTotal = timer
  }

  /// The exchange lives as long as the most patient wants; who wants less has an end of its own.
  func limitEach(_ leader: NetworkOperation, _ transfer: Transfer) {
    leader.forEachRecipient { limit($0, of: leader, transfer) }
  }

  /// Gives the exchange the time that one wants, too, who has just joined it, and whose own begins now.
  func widenLimits(_ leader: NetworkOperation, _ transfer: Transfer, for operation: NetworkOperation) {
    guard let deadlines = transfer.exchange.deadlines else { return }
    let spent = deadlines.spent(now: MonotonicClock.now)
    let left = deadlines.timeouts.total.map { $0.microseconds - spent }
    var limits = operation.timeLimits(operation.sent)
    let wanted = limits.total?.microseconds
    let isLonger = left.map { left in wanted.map { $0 > left + Self.tolerance } ?? true } ?? false
    limits.total = isLonger ? wanted.map { .microseconds($0 + spent) } : deadlines.timeouts.total
    let before = leader.loop.history.map { $0.spent - $0.spentBefore } ?? 0
    limits.attempt = limits.attempt.map { .microseconds(max(1, $0.microseconds - before)) }
    transfer.exchange.deadlines?.widen(limits)
    if isLonger, let left { return limitOthers(leader, transfer, to: left) }
    if let wanted, left.map({ wanted < $0 - Self.tolerance }) ?? true { limit(operation, to: wanted) }
  }

  /// Gives an end of their own to those that have gone by the exchange's so far: to all but the last that has come.
  private func limitOthers(_ leader: NetworkOperation, _ transfer: Transfer, to left: Microseconds) {
    let waiters = leader.loop.waiters.dropLast()
    if !leader.loop.isDetached { limit(leader, to: left) }
    for waiter in waiters.dropFirst(transfer.exchange.waitersLimited) where waiter.leader === leader {
      limit(waiter, to: left)
    }
    transfer.exchange.waitersLimited = waiters.count
  }

  /// Deadlines are looked at so often.
  private static let tolerance: Microseconds = 50_000

  private func limit(_ recipient: NetworkOperation, of leader: NetworkOperation, _ transfer: Transfer) {
    let longest = transfer.exchange.deadlines?.timeouts.total?.microseconds
    guard let total = recipient.timeLimits(recipient.sent).total?.microseconds else { return }
    let left = total - (recipient === leader ? leader.spent(on: transfer) : 0)
    if longest.map({ $0 > left + Self.tolerance }) ?? true { limit(recipient, to: left) }
  }
}

extension NetworkOperation {
  /// Nil: it has no such deadline.
  var queueTimeLeft: Duration? {
    sent.limits(of: engine).queueDeadline.map { $0 - .microseconds(MonotonicClock.now - loop.submittedAt) }
  }

  /// A shared operation is as urgent as the most urgent of those that wait for it.
  var highestPriority: NetworkRequest.Priority {
    loop.waitersLeft == 0 ? sentPriority : recipients.map(\.sentPriority).max() ?? .low
  }
}
