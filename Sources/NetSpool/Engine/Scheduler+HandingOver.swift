internal import Synchronization

/// An operation that goes from one loop to another, and the others that share its exchange.
struct Party: Sendable {
  let leader: NetworkOperation
  let waiters: [NetworkOperation]
  /// The loop that it goes to.
  let number: Int
  /// Of a leader that has done nothing yet: the equal request that it looks for, that has gone there.
  var equal: NetworkOperation?

  var all: [NetworkOperation] { [leader] + waiters }
}

/// With several loops: a redirect leads to an origin of another one. The operation leaves this one wholly, at the end of the
/// turn, and comes to the other as one that was enqueued does, with its history. On its way it is `ready`: what is asked of it
/// meanwhile is noted, as for one that the queue does not know yet, by whichever of the two loops it is asked of.
extension Scheduler {
  /// True when it leaves, or has ended instead.
  func handOver(_ operation: NetworkOperation, to url: String) -> Bool {
    if isAlone { return false }
    let number = driver.number(for: url, of: operation.engine)
    // Streams that are open are this loop's to the end, and one that has failed ends its operation.
    guard number != port.loop.number, operation.loop.extras?.fanout?.isUntouched ?? true,
      operation.recipients.allSatisfy({ $0.loop.extras?.sinkFailure == nil })
    else { return false }
    move(operation, to: .deciding)
    if context.isClosing {
      publish(operation, NetworkError(.engineClosed))
      return true
    }
    for one in operation.recipients { operations.meetSweeps(one) }
    if case .ended = operation.loop.phase { return true }
    for waiter in operation.loop.waiters {
      if case .following(let leader, _) = waiter.loop.phase, leader === operation { didLoseSpool(waiter) }
    }
    depart(operation, to: number)
    return true
  }

  private func depart(_ operation: NetworkOperation, to number: Int) {
    // Equal requests come here, and are sent after it.
    if operation.loop.sharingKey != 0, operation.makeHistory().isFoundAt == nil {
      operation.makeHistory().isFoundAt = port.loop.number
      coalescer.noteMoved(operation.loop.sharingKey)
    }
    cacheSide.release(operation)
    operation.loop.cacheUse?.claim = nil
    operation.loop.cacheUse = nil
    let waiters = operation.loop.waiters.filter { $0.leader === operation }
    operation.loop.extras?.waiters = waiters
    operation.loop.extras?.fanout = nil
    for waiter in waiters { move(waiter, to: .ready) }
    operation.loop.extras?.waiters = []
    move(operation, to: .ready)
    // Nothing was written: they are made again.
    for one in [operation] + waiters { one.loop.hasSinks = false }
    leave(as: Party(leader: operation, waiters: waiters, number: number))
  }

  private func leave(as party: Party) {
    for one in party.all {
      one.loop.origin = nil  // this loop's
      one.loop.history?.stopTimers(timers)
    }
    operations.departing.append(party)
    loop.markDirty()
  }

  /// An equal request has been handed over: this one goes after it.
  func follow(_ leader: NetworkOperation, _ operation: NetworkOperation) {
    if case .ready = operation.loop.phase {} else { move(operation, to: .ready) }
    leave(as: Party(leader: operation, waiters: [], number: 0, equal: leader))
  }

  /// Behind what their users are told of this loop's part.
  func sendDeparting() {
    if operations.departing.isEmpty { return }
    let parties = operations.departing
    operations.departing = []
    for party in parties { send(party) }
  }

  private func send(_ party: Party) {
    // Whom it follows may have left just before.
    let number = party.equal.map { Int($0.loopNumber.load(ordering: .acquiring)) } ?? party.number
    let port = driver.port(of: driver.loops[number])
    if let failure = port.startIfNeeded() { return arrive(party, failure) }
    for one in party.all { one.loopNumber.store(UInt8(number), ordering: .releasing) }
    if port.loop.mailbox.send(.arrive(party)) { return }
    for one in party.all { one.loopNumber.store(UInt8(self.port.loop.number), ordering: .releasing) }
    arrive(party, NetworkError(.engineClosed))
  }

  /// Meets those that are about to leave.
  func meetDeparting(_ meets: SharedSweeps.Catch, behind sweep: UInt32) {
    loop.assertOnLoop()
    for one in operations.departing.flatMap(\.all) where one.sweepsBefore.load(ordering: .relaxed) < sweep {
      meets(self, one)
    }
  }

  // MARK: Coming

  /// - Parameter refusal: it cannot go on.
  func arrive(_ party: Party, _ refusal: NetworkError? = nil) {
    loop.assertOnLoop()
    let leader = party.leader
    let now = MonotonicClock.now
    // Those who look for all that is here now find it.
    operations.lastSubmittedAt = max(operations.lastSubmittedAt, party.all.map(\.loop.submittedAt).max() ?? 0)
    move(leader, to: .deciding)
    for waiter in party.waiters {
      leader.makeExtras().waiters.append(waiter)
      move(waiter, to: .sharing(leader))
    }
    for one in party.all { context.resumeTimers(of: one, now: now) }
    if let refusal = refusal ?? (context.isClosing ? NetworkError(.engineClosed) : nil) {
      return publish(leader, refusal)
    }
    for one in party.all { catchUp(one) }
    if leader.loop.isDetached, leader.loop.waitersLeft == 0 {
      return endExchange(leader, NetworkError(.cancelled))
    }
    guard case .deciding = leader.loop.phase else { return }
    if let equal = party.equal, !joins(leader, equal) { return goBack(leader) }
    guard case .deciding = leader.loop.phase else { return }
    let url = leader.loop.history?.target.url ?? leader.sent.url
    do throws(NetworkError) { leader.loop.origin = try origins.find(url).origin } catch {
      return publish(leader, error)
    }
    if leader.loop.isHeld, leader.loop.waitersLeft == 0 {
      leader.loop.isHeld = false
      return move(leader, to: .paused)
    }
    let isHeld = leader.loop.isHeld
    leader.loop.isHeld = false
    defer { if isHeld { pause(leader) } }
    // One that found nobody to share with begins as any.
    if leader.loop.hasFollowed {
      go(leader, from: .enter)
      return leader.loop.hasFollowed = false
    }
    go(leader, from: .consult(then: .front))
  }

  /// True if the equal request is still one to share with.
  private func joins(_ operation: NetworkOperation, _ leader: NetworkOperation) -> Bool {
    guard !operation.loop.isHeld, port.has(leader), leader.loop.sharingKey != 0, coalescer.mayJoin(leader)
    else {
      return false
    }
    return join(operation, leader)
  }

  /// Sends an operation that came with a leader, or in search of one, back to ask for itself: where its own origin is.
  func goBack(_ operation: NetworkOperation) {
    operation.loop.hasFollowed = true
    if case .ready = operation.loop.phase {} else { move(operation, to: .ready) }
    let url = operation.loop.history?.target.url ?? operation.sent.url
    let number = driver.number(for: url, of: operation.engine)
    leave(as: Party(leader: operation, waiters: [], number: number))
  }

  /// What was asked of it on its way.
  private func catchUp(_ operation: NetworkOperation) {
    if operation.shared.withLock({ $0.outcome != nil }) {
      // Ended from outside: its part in the exchange ends as well.
      if case .sharing = operation.loop.phase { return move(operation, to: .ended) }
      return operation.loop.isDetached = true
    }
    if operation.loop.isCancelledEarly {
      operation.loop.isCancelledEarly = false
      return withdraw(operation, NetworkError(.cancelled))
    }
    for meets in driver.sweeps.those(behind: operation.sweepsBefore.load(ordering: .relaxed)) {
      meets(self, operation)
    }
    guard operation.loop.isHeld, case .sharing = operation.loop.phase else { return }
    operation.loop.isHeld = false
    pause(operation)
  }

  // MARK: Who has not been placed yet

  /// Sends one that the home loop had heard of before it was enqueued to the loop of its origin; false when that is this.
  func sendOn(_ operation: NetworkOperation) -> Bool {
    guard !isAlone, port.loop === driver.home else { return false }
    let number = driver.number(for: operation)
    guard number != port.loop.number else { return false }
    let target = driver.port(of: driver.loops[number])
    guard !context.isClosing, target.startIfNeeded() == nil else { return false }
    operation.loopNumber.store(UInt8(number), ordering: .releasing)
    if target.loop.mailbox.send(.submit(operation)) { return true }
    operation.loopNumber.store(UInt8(port.loop.number), ordering: .releasing)
    return false
  }
}
