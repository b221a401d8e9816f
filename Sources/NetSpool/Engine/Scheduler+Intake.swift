internal import Synchronization

/// How an operation comes in: checked, coalesced, queued.
extension Scheduler {
  func submit(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    lastSubmittedAt = max(MonotonicClock.now, lastSubmittedAt + 1)
    operation.loop.submittedAt = lastSubmittedAt
    let (isDependent, isHeard) = operation.shared.withLock { shared in
      operation.loop.change = shared.changed
      if shared.isPlain { return (false, shared.handlers.wantsState) }
      operation.loop.hasStreams = !shared.streams.isEmpty
      return (!shared.dependencies.isEmpty, shared.handlers.wantsState)
    }
    if isHeard { tell(operation, .state(.queued)) }
    operation.withSent { submit(operation, $0, isDependent) }
  }

  private func submit(_ operation: NetworkOperation, _ request: NetworkRequest, _ isDependent: Bool) {
    do throws(NetworkError) {
      if isClosing { throw NetworkError(.engineClosed) }
      if operation.loop.isCancelledEarly { throw NetworkError(.cancelled) }
      operation.loop.origin = try locate(operation, request)
      if let deadline = request.limits(of: operation.engine).queueDeadline {
        startQueueDeadline(operation, deadline)
      }
      if isDependent, block(operation) { return }
    } catch {
      move(operation, to: .ended)
      return conclude(operation, error)
    }
    go(operation, from: .enter)
  }

  /// Where it goes. What no origin may ever see is refused here, before anything is queued.
  private func locate(_ operation: NetworkOperation, _ request: NetworkRequest) throws(NetworkError) -> Origin
  {
    let found = try origins.find(request.url, make: makeOrigin)
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

  func makeOrigin(_ origin: URLPieces.Origin) -> Origin {
    loop.assertOnLoop()
    originsKnown += 1
    if originsKnown >= originsMax, !isRetiring { retireOrigins() }
    let link = connectivity.map { NetworkQueue.Sizing.Link($0.link.kind) } ?? .local
    let sizing = OriginSizing(settings.sizing, maximum: settings.maximumPerOrigin, link: link)
    let limit = min(sizing.limit(at: MonotonicClock.now), settings.maximumPerOrigin)
    // What we look up ourselves is known before its turn comes.
    let isResolved = origin.hostIsAddress || OriginName.isLookedUp(origin)
    let id = seats.queue.addOrigin(limit: limit, resolved: isResolved)
    return Origin(origin, id: id, sizing: sizing, limit: limit)
  }

  func enter(_ operation: NetworkOperation, _ request: NetworkRequest) -> Step {
    if operation.loop.isHeld { return .pause }
    if operation.loop.origin == nil { return .goBack }
    return request.isFreezable ? .freeze : .share(isAsked: false)
  }

  /// Shares with an equal request, or goes after one that is on another loop; else this is the one that others join.
  func share(_ operation: NetworkOperation, _ request: NetworkRequest, isAsked: Bool) -> Step {
    let alone: Step = isAsked ? .route(atFront: false) : .consult(then: .line)
    guard isAsked || Coalescer.mayShare(request) else { return alone }
    let key = Coalescer.key(of: request, operation.engine)
    if let leader = coalescer.leader(for: operation, request, key) {
      // A renewal keeps none waiting that may be answered without.
      if !isAsked, leader.loop.isRefresh, !operation.loop.isRefresh { return .consult(then: .share) }
      if hasGone(leader) {
        if !operation.loop.hasFollowed { return .goAfter(leader) }
      } else if mayJoin(leader), join(operation, leader, request.priority) {
        return .done
      }
      coalescer.replace(leader, by: operation, key)
    }
    operation.loop.sharingKey = key
    return alone
  }

  func lineUp(_ operation: NetworkOperation, atFront: Bool) {
    guard let origin = operation.loop.origin else { return }
    operation.loop.history?.waitingSince = MonotonicClock.now
    let ticket = seats.queue.enqueue(
      operation, origin: origin.id, priority: operation.loop.priority, atFront: atFront,
      goesFirst: operation.engine.seats.letNextGoFirst())
    move(operation, to: .waiting(.turn(ticket)))
    noteTotal(of: operation, at: origin)
  }

  /// Its answer may be given to somebody who comes now, and will come: no reader of another's holds it up. One whose head is
  /// known and forbids storing, or says that no other request can be known to match, is for those who came before it
  /// (RFC 9111 sections 4.1 and 5.2.2.5).
  func mayJoin(_ leader: NetworkOperation) -> Bool {
    if coalescer.isOutdated(leader) || leader.loop.transfer?.isPausedByReader == true { return false }
    guard let transfer = leader.loop.transfer, !transfer.exchange.hasSuccessor else { return true }
    // A rule of egress may have changed its mind since the connection was made.
    if let peer = transfer.exchange.peer, !transfer.egress.allows(peer) { return false }
    guard let head = transfer.exchange.head else { return true }
    let fields = AnswerFields(head.headers)
    return VaryFields(fields) != nil && !ResponseDirectives(fields).flags.contains(.noStore)
  }

  /// Follows an equal request; false when its body is already gone by.
  func join(
    _ operation: NetworkOperation, _ leader: NetworkOperation, _ priority: NetworkRequest.Priority
  ) -> Bool {
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
    if let origin = leader.loop.origin { noteTotal(of: operation, at: origin) }
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
    if priority > leader.loop.priority { raise(leader, to: priority) }
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
    _ = seats.queue.reprioritise(ticket, to: priority)
  }

  func startQueueDeadline(_ operation: NetworkOperation, _ deadline: Duration) {
    let timer = timers.after(milliseconds: deadline.milliseconds) {
      [unowned self, weak operation] in
      if let operation { withdraw(operation, queueDeadlineFailure(operation)) }
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
