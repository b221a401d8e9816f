internal import Synchronization

/// A step in the course of a request. The parts find out which comes next, and return it; `Scheduler.go` alone acts on it.
/// Two words long, as every GET takes a dozen of them: what is larger lies in a box.
enum Step {
  // Before the exchange, in the order in which they are taken.

  /// Comes into the queue, unless its user holds it, it is to be frozen, or the closures of its engine are behind.
  case enter
  /// Looks for an equal request to share with: of the same URL, method and fields, as the same user, with the same cache policy
  /// and redirects, where `egress` still allows it. `isAsked`: the cache has been asked before.
  case share(isAsked: Bool)
  /// Gets the answer of an equal request.
  case join(NetworkOperation, isAsked: Bool)
  /// Asks the cache, as whom it is sent (fields, cookies, account, scope): `rules`, policy and lifetime say what is fresh. What
  /// follows if that has no answer. A claim: another has asked for the same just now.
  case consult(then: Unanswered, after: Claim? = nil)
  /// Looks for a way there: where its engine may use some interfaces only, one of these must lead to others.
  case route(atFront: Bool)
  /// The addresses of the name that its connection leads to, and the authorities that verify it; for its connect limit at most.
  case resolve(atFront: Bool)
  /// Its turn, in the queue: by priority and the widths of queue and origin; a queue that is suspended and an origin that asked
  /// for a pause hold it here.
  case line(atFront: Bool)
  /// Its turn has come: it has a place, and its exchange begins. From here on TLS, proxy, HTTP version, credentials and the limits
  /// of an attempt and of bodies count, and `egress` when it connects. The head says what the cache stores and what follows.
  case start

  // Behind an exchange, or in place of one.

  /// Has another exchange: a redirect, credentials, a repetition.
  indirect case next(Exchange.Next)
  /// Asks once more, after so many seconds: `retry`.
  case again(after: Double)
  /// Asks as whom a provider of credentials says.
  indirect case renewed(Result<CredentialProvider.Held, NetworkError>)
  /// Goes on with what was looked up in a store.
  case found(CacheFinding)
  /// Ends with what is stored; `play`: its streams have room for that.
  indirect case answer(NetworkResponse)
  indirect case play(NetworkResponse)

  // What ends the course, here and for now.

  /// Waits; what follows then is the wait's to say.
  case wait(Wait)
  /// Ends all who share it.
  indirect case end(Ending)
  /// Ends this one alone, whose end was on its way to it.
  indirect case withdraw(NetworkError)
  case pause
  case freeze
  /// All is done: it is in its line, on the wire or with another, or has ended.
  case done

  static func fail(_ failure: NetworkError) -> Step { .end(Ending(failure: failure)) }
}

/// The way on of an operation that the cache has not answered.
enum Unanswered {
  case share
  case line, front

  var step: Step {
    switch self {
    case .share: .share(isAsked: true)
    case .line: .route(atFront: false)
    case .front: .route(atFront: true)
    }
  }
}

/// The course of a request: the one place where it stands which step follows which. Before it the caller's thread has made
/// the request what is sent (`prepare`, parameters, body, compression), answered it if a fresh answer is stored, and chosen the
/// loop; behind it closures hear of the end on the delivery target. What is frozen goes on in the `FrozenSender`.
///
///     enter -> share -> consult -> route -> resolve -> line -> (its turn) -> start -> (libcurl) -> end
///                ^         ^         ^                                           |
///                |         |         +---- again: another attempt, credentials, -+
///                |         |               an origin that is waited for          |
///                |         +-------------- next: a redirect ---------------------+
///                +------------------------ another's exchange was of no use
///
/// It is entered by a submit, a wait that is over, a turn that has come, an exchange that has ended and a user who
/// resumes. What comes next is decided in the functions that are called here, one for each step, and done here.
extension Scheduler {
  func go(_ operation: NetworkOperation, from first: Step) {
    loop.assertOnLoop()
    var step = first
    while true {
      switch consume step {
      // First what belongs to a store of frozen requests: for that nothing is looked for here.
      case .enter: step = operation.withSent { enter(operation, $0) }
      // Before the cache is asked: of a thousand equal requests one asks.
      case .share(let isAsked): step = operation.withSent { coalescer.share(operation, $0, isAsked: isAsked) }
      case .join(let leader, let isAsked):
        if join(operation, leader) { return }
        coalescer.leave(leader)  // its body is gone by
        step = .share(isAsked: isAsked)
      // Before there is a way: what is held needs none.
      case .consult(let next, let claim):
        step = operation.withSent { cacheSide.consult(operation, $0, then: next, after: claim) }
      case .route(let atFront):
        operation.loop.priority = operation.highestPriority
        step = connectivity.routeWait(operation).map { .wait($0) } ?? .resolve(atFront: atFront)
      // Before its turn, which is not kept waiting for a name server.
      case .resolve(let atFront):
        step = names.wait(for: operation, atFront: atFront).map { .wait($0) } ?? .line(atFront: atFront)
      case .line(let atFront): return lineUp(operation, atFront: atFront)
      case .start: step = start(operation)

      case .next(let next): step = self.step(operation, next)
      case .again(let seconds): step = delay(operation, seconds: seconds)
      case .renewed(let result): step = successors.authenticator.renewed(operation, result)
      case .found(let finding): step = cacheSide.step(operation, after: finding)
      case .answer(let response): step = answer(operation, response)

      case .play(let response): return play(response, of: operation)
      case .wait(let wait): return suspend(operation, wait)
      case .end(let ending): return publish(operation, ending)
      case .withdraw(let failure): return withdraw(operation, failure)
      case .pause: return move(operation, to: .paused)
      case .freeze: return operation.withSent { freeze(operation, $0) }
      case .done: return
      }
    }
  }

  // MARK: Coming in

  func submit(_ operation: NetworkOperation) {
    loop.assertOnLoop()
    operations.lastSubmittedAt = max(MonotonicClock.now, operations.lastSubmittedAt + 1)
    operation.loop.submittedAt = operations.lastSubmittedAt
    let (isDependent, isHeard) = operation.shared.withLock { shared in
      operation.loop.change = shared.changed
      if shared.isPlain { return (false, shared.handlers.wantsState) }
      operation.loop.hasStreams = !shared.rare.streams.isEmpty
      operation.loop.isHeld = shared.rare.isHeld
      return (!shared.rare.dependencies.isEmpty, shared.handlers.wantsState)
    }
    if isHeard { context.tell(operation, .state(.queued)) }
    operation.withSent { submit(operation, $0, isDependent) }
  }

  private func submit(_ operation: NetworkOperation, _ request: NetworkRequest, _ isDependent: Bool) {
    do throws(NetworkError) {
      if context.isClosing { throw NetworkError(.engineClosed) }
      if operation.loop.isCancelledEarly { throw NetworkError(.cancelled) }
      operation.loop.origin = try origins.locate(operation, request)
      if let deadline = request.limits(of: operation.engine).queueDeadline {
        context.startQueueDeadline(operation, deadline)
      }
      // Others must end first.
      if isDependent, NetworkOperation.dependencies.withLock({ $0.block(operation, as: operation.id) }) {
        return move(operation, to: .waiting(.others))
      }
      // They ended before this loop came to it.
      if operation.engine.isOver { throw NetworkError(.engineClosed) }
    } catch {
      move(operation, to: .ended)
      return conclude(operation, error)
    }
    go(operation, from: .enter)
  }

  private func enter(_ operation: NetworkOperation, _ request: NetworkRequest) -> Step {
    if operation.loop.isHeld { return .pause }
    if request.isFreezable { return .freeze }
    // Before others share with it, who need not wait for its engine's closures.
    return seats.deliveryWait(operation, then: .enter).map { .wait($0) } ?? .share(isAsked: false)
  }

  /// Follows an equal request; false when its body is already gone by.
  func join(_ operation: NetworkOperation, _ leader: NetworkOperation) -> Bool {
    var playback: Playback?
    if let transfer = leader.loop.transfer, !transfer.exchange.hasSuccessor {
      if seats.rooms.hasRoomForStreams(operation.engine) {
        playback = sinks.makePlayback(of: transfer, for: operation) { [unowned self, weak operation] in
          if let operation { didLoseSpool(operation) }
        }
      }
      if playback == nil {
        guard transfer.hasWholeBeginning else { return false }
        if !operation.hasStreams, transfer.bodyUse != nil, !transfer.collectFromNow() { return false }
        if operation.hasStreams {
          sinks.addSinks(of: operation, to: leader)
          seats.heedStreams(of: transfer)
        }
      }
    }
    if operation.loop.cacheUse != nil { cacheSide.validations.release(operation) }
    operation.loop.cacheUse = nil
    operation.loop.joinedAt = MonotonicClock.now
    leader.makeExtras().waiters.append(operation)
    if let origin = leader.loop.origin { origins.noteTotal(of: operation, at: origin) }
    move(operation, to: playback.map { .following(leader, $0) } ?? .sharing(leader))
    if let transfer = leader.loop.transfer {
      context.didStart(operation)
      let total = operation.timeLimits(operation.sent).total
      context.widenLimits(leader, transfer, for: operation, wanting: total)
    }
    switch leader.currentWait?.reason {
    case .validation?, .claim?: context.limitStreams(of: operation, leader)
    case .credentials?:
      if let total = operation.timeLimits(operation.sent).total {
        context.limit(operation, to: total.microseconds)
      }
    default: break
    }
    if let use = leader.loop.cacheUse, let early = use.early,
      !use.cache.store.holdsBack(use.question.primaryKey.digest.first, askedAt: leader.loop.submittedAt)
    {
      cacheSide.provide(operation, early)
    }
    if operation.sentPriority > leader.loop.priority { context.raise(leader, to: operation.sentPriority) }
    playback?.start()
    return true
  }

  private func lineUp(_ operation: NetworkOperation, atFront: Bool) {
    guard let origin = operation.loop.origin else { return }
    operation.loop.history?.waitingSince = MonotonicClock.now
    let ticket = context.queue.enqueue(
      operation, origin: origin.id, priority: operation.loop.priority, atFront: atFront,
      goesFirst: operation.engine.seats.letNextGoFirst())
    move(operation, to: .waiting(.turn(ticket)))
    seats.lineUp(ticket, of: operation)
    origins.noteTotal(of: operation, at: origin)
  }

  // MARK: Its turn

  /// Has those begin whose turn it is. False: there are more, for the next turn.
  func admit(in turn: Turn) -> Bool {
    loop.assertOnLoop()
    seats.beginTurns()
    defer { seats.giveBackPlaces() }
    var turn = turn
    starter.newTransfers = 0
    while let operation = seats.next() {
      guard let origin = operation.loop.origin else { continue }
      takeTurn(operation, at: origin)
      if starter.newTransfers == Starter.newTransfersMax || turn.isOver() {
        loop.markDirty()
        return false
      }
    }
    seats.lookAgain()
    return true
  }

  /// What an operation does whose turn has come. Whatever else than to start gives the turn back first.
  private func takeTurn(_ operation: NetworkOperation, at origin: Origin) {
    let step = turnStep(operation)
    if case .start = step { return go(operation, from: step) }
    if case .withdraw = step { port.loop.places.end(operation.loop.placeWait, isRefused: true) }
    move(operation, to: .deciding)
    context.queue.finished(origin.id)
    go(operation, from: step)
  }

  /// While it waited much may have changed: it may be about to end, its way be gone, its engine have no room, or another
  /// process ask for the same.
  private func turnStep(_ operation: NetworkOperation) -> Step {
    if operation.loop.waitersLeft == 0, operation.loop.transfer == nil,
      let failure = operations.failure(awaiting: operation)
    {
      return .withdraw(failure)
    }
    if let wait = connectivity.routeWait(operation) { return .wait(wait) }
    if names.isFailureOld(of: operation) { return .resolve(atFront: true) }
    if let list = seats.roomList(operation) {
      return .wait(Wait(.room, in: list, then: .route(atFront: true)))
    }
    guard let step = cacheSide.claims.step(operation) else { return .start }
    if case .wait = step { context.limitStreams(of: operation) }
    return step
  }

  /// Begins the exchange, or goes on with the one that was paused.
  private func start(_ operation: NetworkOperation) -> Step {
    guard let origin = operation.loop.origin else { return .done }
    do throws(NetworkError) {
      try operation.withSent { request throws(NetworkError) in try start(operation, request, at: origin) }
      return .done
    } catch {
      context.queue.finished(origin.id)
      origins.apply(.abandoned, to: origin)
      move(operation, to: .deciding)
      return .fail(error)
    }
  }

  private func start(
    _ operation: NetworkOperation, _ request: NetworkRequest, at origin: Origin
  ) throws(NetworkError) {
    let now = MonotonicClock.now
    origins.apply(.started, to: origin, now: now)
    if let transfer = operation.loop.transfer { return resume(transfer, of: operation) }
    let transfer = try starter.transfer(for: operation, request, at: origin) { transfer in
      transfer.onStall = { [seats] in seats.watchReaders() }
      transfer.onTooLong = { [unowned self] in endUnstreamed($0) }
      transfer.onHead = { [unowned self] transfer, head in didReceive(head, transfer) }
    }
    operation.loop.transfer = transfer
    operation.forEachRecipient { if $0.hasStreams { sinks.makeSinks(of: $0, for: operation) } }
    operation.loop.cacheUse?.beginExchange()
    let failure =
      operation.loop.extras?.nameFailure.take()
      ?? origin.proof.failure(for: operation.engine.id, as: transfer.connectionIdentity, now: now)
    let name = names.name(for: operation, at: origin)
    if failure == nil, let name, let host = name.host, !name.addresses.isEmpty {
      transfer.tell(addresses: name.entry(of: host), version: name.version)
    }
    transfer.interface = connectivity.interface(for: operation, at: origin)
    transfer.begin(for: operation, fanout: operation.loop.extras?.fanout, now: now, failing: failure)
    transfer.exchange.addressesVersion = name?.version ?? 0
    if !transfer.exchange.wasAdded {
      context.later { [unowned self] in
        if transfer.exchange.owner === operation, case .running = operation.loop.phase {
          completed(transfer, code: nil)
        }
      }
    }
    seats.heedStreams(of: transfer)
    move(operation, to: .running)
    operation.forEachRecipient { context.didStart($0) }
    if operation.loop.waitersLeft > 0 { context.limitEach(operation, transfer) }
    if !operation.loop.isDetached { context.goOnWithTotal(of: operation) }
  }

  /// A paused transfer has its slot again.
  private func resume(_ transfer: Transfer, of operation: NetworkOperation) {
    move(operation, to: .running)
    context.set(.executing, operation)
    context.goOnWithTotal(of: operation)
    transfer.resumeByUser()
    if transfer.isPausedByReader { seats.watchReaders() }
  }

  // MARK: Waiting

  /// The operation waits from now on, and then takes the step that the wait says.
  func suspend(_ operation: NetworkOperation, _ wait: Wait) {
    wait.begin(operation, context)
    move(operation, to: .waiting(.until(wait)))
  }
}
