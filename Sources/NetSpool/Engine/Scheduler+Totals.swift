/// The `total` of those that wait for an origin which has asked for quiet: that time counts.
extension Scheduler {
  private static let totalsMilliseconds: UInt64 = 50
  private static let totalsPiece = 128

  /// Ends those that wait for a held origin when their total is over.
  func watchTotals(at origin: Origin) {
    origin.nextTotal = 0
    lookAtTotals(of: origin)
  }

  private func lookAtTotals(of origin: Origin) {
    let hold = origin.hold
    timers.after(milliseconds: Self.totalsMilliseconds) { [weak self, weak origin] in
      guard let self, let origin, origin.hold != nil, origin.hold == hold else { return }
      countWaiting(at: origin)
      MonotonicClock.now < origin.nextTotal ? lookAtTotals(of: origin) : endLate(at: origin)
    }
  }

  /// One that has come meanwhile may be the next whose total is over.
  func noteTotal(of operation: NetworkOperation, at origin: Origin) {
    guard origin.hold != nil,
      let end = totalEnd(of: operation, at: origin, now: MonotonicClock.now)
    else { return }
    origin.nextTotal = min(origin.nextTotal, end)
  }

  /// Looks at all that wait there, some of them in each turn: who came first need not be the first whose time is over.
  private func endLate(at origin: Origin) {
    let hold = origin.hold
    var (classes, start) = (NetworkRequest.Priority.allCases[...], Ticket?.none)
    origin.nextTotal = .max
    doInPieces { [unowned self, weak origin] in
      guard let origin, origin.hold == hold, let priority = classes.first else { return false }
      if let ticket = start, !seats.queue.isWaiting(ticket) {
        (classes, origin.nextTotal) = ([], 0)  // nobody knows where it stood: all are looked at again
      } else {
        start = endLate(at: origin, priority, from: start)
        if start == nil { classes.removeFirst() }
      }
      guard classes.isEmpty else { return true }
      countWaiting(at: origin)
      lookAtTotals(of: origin)
      return false
    }
  }

  /// Answers where the rest begins.
  private func endLate(
    at origin: Origin, _ priority: NetworkRequest.Priority, from start: Ticket?
  ) -> Ticket? {
    let now = MonotonicClock.now
    var late: [NetworkOperation] = []
    let rest = seats.queue.visit(at: origin.id, priority, from: start, atMost: Self.totalsPiece) {
      operation in
      operation.forEachRecipient { recipient in
        guard let end = totalEnd(of: recipient, at: origin, now: now) else { return }
        if end <= now { late.append(recipient) } else { origin.nextTotal = min(origin.nextTotal, end) }
      }
    }
    for operation in late {
      driver.pauses.refuse()
      withdraw(operation, NetworkError(.timedOut, cause: .total))
    }
    return rest
  }

  /// When its total is over if the origin stays as it is; nil: it has none.
  private func totalEnd(
    of operation: NetworkOperation, at origin: Origin, now: Microseconds
  ) -> Microseconds? {
    guard let total = operation.timeLimits(operation.sent).total else { return nil }
    let history = operation.loop.history
    let since = max(operation.loop.submittedAt, history?.waitingSince ?? 0)
    let left = total.microseconds - (history?.spent ?? 0) - origin.held.since(since, now: now)
    return left > .max - now ? .max : now + left
  }
}
