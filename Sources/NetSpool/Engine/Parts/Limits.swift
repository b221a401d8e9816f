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

  /// Gives the exchange the time that one who has joined it wants, too.
  func widenLimits(_ leader: NetworkOperation, _ transfer: Transfer, for operation: NetworkOperation) {
    let longest = transfer.exchange.deadlines?.timeouts.total
    transfer.exchange.deadlines?.widen(operation.timeLimits(operation.sent))
    // Only when the exchange has more time than before, the others need ends of their own.
    let isAsBefore = transfer.exchange.deadlines?.timeouts.total == longest
    if isAsBefore { limit(operation, of: leader, transfer) } else { limitEach(leader, transfer) }
  }

  private func limit(_ recipient: NetworkOperation, of leader: NetworkOperation, _ transfer: Transfer) {
    let longest = transfer.exchange.deadlines?.timeouts.total
    guard let total = recipient.timeLimits(recipient.sent).total, longest.map({ $0 > total }) ?? true
    else { return }
    // Who has just come begins now.
    let spent = recipient === leader ? leader.spent(on: transfer) : 0
    limit(recipient, to: total.microseconds - spent)
  }
}

extension NetworkOperation {
  /// A shared operation is as urgent as the most urgent of those that wait for it.
  var highestPriority: NetworkRequest.Priority {
    loop.waitersLeft == 0 ? sentPriority : recipients.map(\.sentPriority).max() ?? .low
  }
}
