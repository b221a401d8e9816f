internal import Synchronization

/// What follows from an exchange: what becomes of its body, and then another exchange or the end.
extension Scheduler {
  // MARK: The head

  /// Decides at the head what becomes of the body, and what follows. In the middle of libcurl's work, so it only notes.
  func didReceive(_ head: ResponseHead, _ transfer: Transfer) -> (BodyUse, Exchange.Next?) {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return (.discard, nil) }
    origins.noteLatency(operation, transfer, head)
    if let jar = operation.engine.jar, head.headers.contains("Set-Cookie") {
      keepCookies(operation.engine, in: jar)
    }
    let next = successors.next(operation, transfer, head)
    if !transfer.exchange.plan.method.isSafe {
      switch next {
      case nil, .redirect, .fail: cacheSide.bridge.invalidate(operation, transfer, head, coalescer)
      default: break
      }
    }
    guard let next else { return (bodyUse(operation, transfer, head), nil) }
    return (successors.keepsBody(operation, transfer, head, before: next) ? .collect : .discard, next)
  }

  /// The use that is made of an answer's body.
  private func bodyUse(_ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead) -> BodyUse {
    let cacheUse = operation.loop.cacheUse
    if let cacheUse, cacheUse.findings.notModified == nil {
      cacheSide.bridge.noteHead(cacheUse, transfer, head)
    }
    guard let fanout = operation.loop.extras?.fanout, head.status < 300 else { return .collect }
    let collects = operation.recipients.contains { !$0.hasStreams }
    if let cacheUse {
      cacheUse.hasOpenedStreams = true
      if !collects {
        cacheSide.spool(cacheUse, transfer, fanout, at: sinks.spoolPlace(of: cacheUse.cache.store))
      }
    }
    return BodyUse(collects: collects, streams: true)
  }

  /// Ends the operations that want a body in memory which is too long for that. It goes on for the others' streams.
  func endUnstreamed(_ transfer: Transfer) {
    guard let leader = transfer.exchange.owner as? NetworkOperation else { return }
    leader.loop.cacheUse?.findings.entry = nil
    let most = transfer.exchange.plan.limits.bodyBytesInMemoryMax
    let failure = NetworkError(.bodyTooLarge, reason: "more than \(most) bytes", sendState: .answered)
    context.later { [unowned self] in
      for recipient in leader.recipients where !recipient.hasStreams {
        if case .following = recipient.loop.phase { continue }  // it has a limit of its own
        withdraw(recipient, failure)
      }
    }
  }

  private func keepCookies(_ engine: NetworkEngine, in jar: CookieJar) {
    context.later { [unowned self] in
      let cookies = starter.pools.cookies(of: engine.id, engine.handleSettings)
      let lines = cookies.cookieLines
      let bounded = CookieJar.bounded(lines)
      if let bounded { cookies.addCookies([SharedState.allCookies] + bounded) }
      jar.replace(bounded ?? lines)
    }
  }

  // MARK: The end

  /// libcurl reported the end, or (without a code) we ended it.
  func completed(_ transfer: Transfer, code: Int32?) {
    loop.assertOnLoop()
    guard let operation = transfer.exchange.owner as? NetworkOperation else {
      connectivity.probed(transfer, code: code)
      return
    }
    go(operation, from: stepBehind(operation, transfer, code: code))
  }

  private func stepBehind(_ operation: NetworkOperation, _ transfer: Transfer, code: Int32?) -> Step {
    let isJudged = operation.isJudged
    move(operation, to: .deciding)
    let (failure, next) = transfer.end(code: code)
    connectivity.note(operation, transfer, failure)
    let metrics = transfer.metrics()
    if let origin = operation.loop.origin, origin.isSecure, transfer.exchange.wasAdded {
      origin.proof.note(
        failure, by: operation.engine.id, as: transfer.connectionIdentity, now: MonotonicClock.now)
    }
    if isJudged, let origin = operation.loop.origin {
      origins.apply(
        origins.sizingEvent(operation, transfer, failure, isLast: next == nil, metrics), to: origin)
    }
    driver.counts.add(Int(metrics.bytesReceived), to: .bytesIn)
    driver.counts.add(Int(metrics.bytesSent), to: .bytesOut)
    if failure?.code == .tooManyOpenFiles, seats.didLackDescriptors() {
      return successor(of: transfer, operation, .again)
    }
    if let ended = failure, next == nil, !context.isClosing {
      let cause = FailedAttempt.Cause.failure(ended.code)
      if let delay = successors.repetition.delay(operation, transfer, cause, failure: ended) {
        // The silent repetition is no user's to refuse.
        if delay > 0 || transfer.exchange.hasStreamed { endImpatient(operation, transfer, ended, cause) }
        return successor(of: transfer, operation, .retry(after: delay), ended)
      }
      if let wait = connectivity.originWait(operation, ended) {
        _ = successor(of: transfer, operation, .again)
        operation.makeHistory().beginAttempt(isAsked: false)
        return .wait(wait)
      }
    }
    // A body that was to be dropped anyway may end badly; a limit of time holds for it as well.
    guard failure == nil || code != nil && failure?.sendState == .answered, let decided = next else {
      return finish(operation, transfer, metrics, failure)
    }
    if case .fail(let refusal) = decided { return finish(operation, transfer, metrics, refusal) }
    if case .retry = decided, let status = transfer.exchange.head?.status {
      endImpatient(operation, transfer, nil, .status(status))
    }
    // Only a redirect that came whole is stored.
    if failure != nil { operation.loop.cacheUse?.findings.entry = nil }
    return successor(of: transfer, operation, decided)
  }

  private func finish(
    _ operation: NetworkOperation, _ transfer: Transfer, _ metrics: NetworkResponse.Metrics,
    _ failure: NetworkError?
  ) -> Step {
    let ending = makeEnding(operation, transfer, metrics, failure)
    if operation.loop.extras?.fanout != nil {
      operation.makeHistory().spent += transfer.exchange.deadlines?.spent(now: MonotonicClock.now) ?? 0
    }
    if operation.loop.extras != nil { operation.noteSent(transfer, failure) }
    operation.loop.transfer = nil
    let standIn = operation.loop.cacheUse?.standIn
    // The body of what has failed is nobody's progress.
    if standIn == nil {
      context.reportLastProgress(operation, transfer, isWhole: ending.failure == nil)
    }
    recycle(transfer, operation)
    if let answer = ending.answer, answer.source != .network { return .answer(answer) }
    if let standIn {
      return cacheSide.answer(operation, standIn, or: ending)
    }
    // Nearly all end here: an ending is too large to be handed on as a step.
    publish(operation, consume ending)
    return .done
  }

  /// How it ends, as the cache and the credentials see it.
  private func makeEnding(
    _ operation: NetworkOperation, _ transfer: Transfer, _ metrics: NetworkResponse.Metrics,
    _ failure: NetworkError?
  ) -> Ending {
    var ending = Ending(
      of: operation, transfer, metrics, failure: failure.map { connectivity.blamingNetwork($0, operation) })
    if let use = operation.loop.cacheUse {
      cacheSide.bridge.finish(use, operation, transfer, &ending)
    } else {
      cacheSide.bridge.storePosted(ending, transfer, of: operation)
    }
    if ending.failure == nil, let answer = ending.answer,
      answer.head.status == 401 || answer.head.status == 407
    {
      ending.failure = successors.authenticator.refusal(operation, answer)
    }
    return ending
  }

  func recycle(_ transfer: Transfer, _ operation: NetworkOperation) {
    let mayServeAgain = transfer.mayServeAgain
    transfer.reset()
    guard !context.isClosing, mayServeAgain, !transfer.multi.isRetired else { return }
    operation.loop.origin?.idle.give(transfer)
  }

  /// The link is back. What was connecting has sent into the one that was, and would wait ever longer to send it again.
  func restartConnecting() {
    loop.assertOnLoop()
    for transfer in seats.running where transfer.isConnecting {
      guard let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        OriginWatch.needsRoute(origin.pieces, operation.engine.handleSettings)
      else { continue }
      connectAgain(operation, transfer)
    }
  }

  /// Nothing has been sent, so that no caller hears of it.
  func connectAgain(_ operation: NetworkOperation, _ transfer: Transfer) {
    giveUpSlot(operation, for: .deciding)
    transfer.end(code: nil)
    go(operation, from: successor(of: transfer, operation, .again))
  }

  // MARK: Under way

  /// Twenty times a second while anything runs: limits of time, and progress.
  func didTick(_ number: Int) {
    let now = MonotonicClock.now
    // Lets those go that have none: they keep the memory of their stores.
    guard !seats.running.isEmpty else { return cacheSide.claims.beat(now: now) }
    // Those that end leave `running`, so they are collected first.
    let expired = seats.running.compactMap { transfer in transfer.expired(now: now).map { (transfer, $0) } }
    for (transfer, failure) in expired {
      transfer.fail(failure)
      completed(transfer, code: nil)
    }
    for transfer in seats.running.filter({ $0.dawdles(now: now) }) where transfer.leaveBody() {
      completed(transfer, code: MultiHandle.writeFailed)
    }
    for transfer in seats.running where transfer.exchange.speaksHTTP2 { transfer.endIfSentInVain(now: now) }
    // Those that connect to an address that does not answer try the next.
    for transfer in seats.running {
      guard let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        names.giveUpAddress(of: transfer, operation, at: origin, now: now)
      else { continue }
      connectAgain(operation, transfer)
    }
    seats.letOthersPass(now: now)
    cacheSide.claims.beat(now: now)
    if number % 2 == 0 { for transfer in seats.running { context.reportProgress(of: transfer) } }
    loop.markDirty()
  }

  /// Its streams take nothing.
  func yieldPlace(of transfer: Transfer) {
    guard !transfer.exchange.hasYielded, let operation = transfer.exchange.owner as? NetworkOperation,
      let origin = operation.loop.origin
    else { return }
    if operation.isJudged { origins.apply(.abandoned, to: origin) }
    operation.loop.cacheUse?.claim = nil
    seats.yieldPlace(of: transfer, operation.engine, at: origin)
    sinks.watch.begin(operation)
    letFollowersGo(operation)
  }

  /// Has the operations that share the answer and have got nothing of it ask for themselves: another's stream takes no more.
  private func letFollowersGo(_ leader: NetworkOperation) {
    guard leader.loop.waitersLeft > 0, leader.loop.transfer?.waitsForOwner == true else { return }
    coalescer.leave(leader)
    let leaving = leader.loop.waiters.filter { $0.leader === leader && !$0.loop.hasSinks }
    for waiter in leaving { setApart(waiter) }
    endIfLeft(leader)
    for waiter in leaving { go(waiter, from: .enter) }
  }

  /// It shares no more, and goes on with nothing.
  func setApart(_ waiter: NetworkOperation) {
    waiter.loop.extras?.lateBody = nil
    waiter.loop.extras?.fanout = nil
    move(waiter, to: .deciding)
    context.set(.queued, waiter)
  }

  // MARK: The next one

  /// The next exchange of the same operation; its transfer goes back first.
  private func successor(
    of transfer: Transfer, _ operation: NetworkOperation, _ next: Exchange.Next,
    _ failure: NetworkError? = nil
  ) -> Step {
    let history = operation.makeHistory()
    if history.firstStart == 0 { history.firstStart = transfer.exchange.startedAt }
    history.spent += transfer.exchange.deadlines?.spent(now: MonotonicClock.now) ?? 0
    history.needsFreshConnection = false
    if case .again = next {} else { history.connecting = (0, 0) }
    if case .redirect = next { context.reportLastSent(operation, transfer) }
    history.delivered.received = max(history.delivered.received, transfer.exchange.reportedBytes)
    history.delivered.sent = max(history.delivered.sent, transfer.exchange.reportedSent)
    if case .ask = next {
      history.authentication.refusal = Ending(of: operation, transfer, transfer.metrics()).answer
    }
    switch next {
    case .redirect:
      operation.noteSent(transfer, nil)
      cacheSide.bridge.storeRedirect(operation, transfer)
    case .retry: operation.noteSent(transfer, failure)
    default: break
    }
    let part = transfer.exchange.hasStreamed ? operation.partToGoOnWith : nil
    if case .retry(let pause) = next {
      // As where libcurl repeats by itself, no handler hears of the silent one.
      if pause > 0 { tellOfAttempt(operation, transfer, failure) }
      letFollowersShare(operation)
    }
    operation.loop.transfer = nil
    recycle(transfer, operation)
    guard case .retry(let seconds) = next else { return .next(next) }
    history.beginAttempt(isAsked: true)
    history.needsFreshConnection = seconds == 0
    guard let part else { return .again(after: seconds) }
    unregister(operation)  // the rest is of use to no other
    operation.loop.cacheUse = nil
    return sinks.goOn(operation, with: part, after: seconds)
  }

  /// Another attempt follows.
  private func tellOfAttempt(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?) {
    let hearers = operation.recipients.filter { $0.shared.withLock { $0.handlers.wantsAttempts } }
    if hearers.isEmpty { return }
    let ending = Ending(of: operation, transfer, transfer.metrics(), failure: failure)
    guard var error = ending.refusal else { return }
    error.attempts = operation.loop.history?.attempts ?? 1
    for hearer in hearers { context.tell(hearer, .attempt(error.attempts, error.about(hearer.sent.url))) }
  }

  func step(_ operation: NetworkOperation, _ next: Exchange.Next) -> Step {
    switch next {
    case .redirect(let hop): return follow(hop, operation)
    case .withoutExpect: operation.makeHistory().refusesExpect = true
    case .unconditional:
      cacheSide.validations.release(operation)
      operation.loop.cacheUse = operation.loop.cacheUse.map { CacheUse($0.cache, $0.question, held: nil) }
    case .authorized, .again: break
    case .ask(let provider): return successors.authenticator.ask(provider, for: operation)
    case .retry(let seconds): return .again(after: seconds)
    case .fail(let failure): return .fail(failure)
    }
    return .again(after: 0)
  }

  private func follow(_ hop: RedirectHop, _ operation: NetworkOperation) -> Step {
    let history = operation.makeHistory()
    history.follow(hop, defaults: operation.engine.headers)
    operation.loop.hasAwaitedClaim = false
    do throws(NetworkError) {
      operation.loop.origin = try origins.find(history.target.url).origin
    } catch { return .fail(error) }
    return .consult(then: .front)
  }

  func delay(_ operation: NetworkOperation, seconds: Double) -> Step {
    guard seconds > 0 else {
      operation.forEachRecipient { context.set(.queued, $0) }
      return .route(atFront: true)
    }
    operation.makeHistory().pauseAttempts(for: Microseconds(seconds * 1e6))
    return .wait(Wait(.delay, then: .route(atFront: true), atMost: UInt64((seconds * 1000).rounded(.up))))
  }
}
