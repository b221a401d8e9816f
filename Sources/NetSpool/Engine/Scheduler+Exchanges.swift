internal import Synchronization

/// What follows from an exchange: what becomes of its body, and then another exchange or the end.
extension Scheduler {
  // MARK: The head

  /// Decides at the head what becomes of the body. In the middle of libcurl's work, so it only notes.
  func bodyUse(_ transfer: Transfer, _ head: ResponseHead) -> BodyUse {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return .discard }
    noteLatency(operation, transfer, head)
    noteCookies(operation.engine, head)
    if let next = nextExchange(operation, transfer, head) {
      transfer.exchange.next = next
      switch next {
      case .redirect, .fail: cacheBridge.invalidate(operation, transfer, head, &coalescer)
      default: break
      }
      if case .redirect = next, mayKeepRedirect(operation, transfer, head) { return .collect }
      if case .ask = next { return .collect }  // the provider may look at it
      if case .retry = next, !Repetition.impatient(operation, .status(head.status)).isEmpty {
        return .collect
      }
      return .discard
    }
    if !transfer.exchange.plan.method.isSafe { cacheBridge.invalidate(operation, transfer, head, &coalescer) }
    let cacheUse = operation.loop.cacheUse
    if let cacheUse, cacheUse.findings.notModified == nil { cacheBridge.noteHead(cacheUse, transfer, head) }
    guard let fanout = operation.loop.extras?.fanout, head.status < 300 else { return .collect }
    let collects = operation.recipients.contains { !$0.hasStreams }
    if let cacheUse {
      cacheUse.hasOpenedStreams = true
      if !collects { spool(cacheUse, transfer, fanout) }
    }
    return BodyUse(collects: collects, streams: true)
  }

  /// A 1xx answer. In the middle of libcurl's work, so it only notes.
  func noteInformational(_ transfer: Transfer, _ head: ResponseHead) {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return }
    operation.forEachRecipient { recipient in
      let wants = recipient.shared.withLock { $0.handlers.wantsInformational }
      if wants { tell(recipient, .informational(head)) }
    }
  }

  private func noteCookies(_ engine: NetworkEngine, _ head: ResponseHead) {
    guard let jar = engine.jar, head.headers.contains("Set-Cookie") else { return }
    later { [unowned self] in
      let cookies = pools.cookies(of: engine.id, engine.handleSettings)
      let lines = cookies.cookieLines
      let bounded = CookieJar.bounded(lines)
      if let bounded { cookies.addCookies([SharedState.allCookies] + bounded) }
      jar.replace(bounded ?? lines)
    }
  }

  /// A redirect may be stored like any answer, with the little that it has to say.
  private func mayKeepRedirect(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead
  ) -> Bool {
    guard let use = operation.loop.cacheUse, use.question.request.method == .get else { return false }
    cacheBridge.noteHead(use, transfer, head)
    if use.findings.entry == nil { return false }
    if let announced = transfer.announcedBytes, announced <= Self.redirectBytesMax { return true }
    use.findings.entry = nil
    return false
  }

  private static let redirectBytesMax: Int64 = 64 << 10

  private func nextExchange(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead
  ) -> Exchange.Next? {
    if head.status == 304, let use = operation.loop.cacheUse, use.isConditional {
      return cacheBridge.noteNotModified(use, head) ? nil : .unconditional
    }
    if let unasked = unasked(operation, head) { return .fail(unasked) }
    if head.status >= 300, head.status < 400 { return redirect(operation, head) }
    if head.status == 417, mayGoWithoutExpect(operation, transfer) {
      // Ended here, or libcurl would repeat it by itself in the middle of the exchange.
      transfer.fail(NetworkError(.status, reason: "417", underlying: .http(417), sendState: .answered))
      return .withoutExpect
    }
    guard head.status >= 400 else { return needsOwnConnection(operation, transfer, head) ? .again : nil }
    if head.status == 416, operation.sent.hasExtras, operation.sent.extra.resumes {
      let reason = "the server has no byte behind the part"
      return .fail(NetworkError(.resumeMismatch, reason: reason, sendState: .answered))
    }
    if head.status == 401, let next = planner.authenticator.challenged(operation, head) { return next }
    if isClosing { return nil }
    let delay = repetition.delay(operation, transfer, .status(head.status), head: head)
    return delay.map { .retry(after: $0) }
  }

  /// 304 and 206 answer a question that was not put, so what they leave out is nowhere (RFC 9110 sections
  /// 15.3.7 and 15.4.5).
  private func unasked(_ operation: NetworkOperation, _ head: ResponseHead) -> NetworkError? {
    let names: [String]
    switch head.status {
    case 304: names = ["If-None-Match", "If-Modified-Since"]
    case 206: names = ["Range"]
    default: return nil
    }
    let fields = operation.loop.history?.target.headers ?? operation.sent.headers
    if names.contains(where: { fields.contains($0) || operation.engine.headers.contains($0) }) { return nil }
    return NetworkError(.protocolViolation, reason: "unasked\(head.status)", sendState: .answered)
  }

  /// Once, and only before a byte of the body has gone (RFC 9110 section 10.1.1).
  private func mayGoWithoutExpect(_ operation: NetworkOperation, _ transfer: Transfer) -> Bool {
    transfer.hasBodyToSend && transfer.exchange.bytesSent == 0
      && operation.loop.history?.refusesExpect != true && operation.sent.prepared.canReplay
  }

  /// Where an answer leads, from the origin or from the cache; nil: nowhere, it is the answer.
  func redirect(_ operation: NetworkOperation, _ head: ResponseHead) -> Exchange.Next? {
    let request = operation.sent
    let policy = request.redirects ?? operation.engine.configuration.redirects
    do throws(NetworkError) {
      let location = try RedirectDecision.location(
        status: head.status, fields: head.headers, policy: policy)
      guard let location else { return nil }
      let setsCookie = operation.engine.handleSettings.keepsCookies && head.headers.contains("Set-Cookie")
      return .redirect(
        try operation.makeHistory().hop(
          to: location, status: head.status, request, policy, setsCookie: setsCookie))
    } catch {
      return .fail(error)
    }
  }

  // MARK: The end

  /// libcurl reported the end, or (without a code) we ended it.
  func completed(_ transfer: Transfer, code: Int32?) {
    loop.assertOnLoop()
    guard let operation = transfer.exchange.owner as? NetworkOperation else {
      connectivity?.probed(transfer, code: code)
      return
    }
    go(operation, from: stepBehind(operation, transfer, code: code))
  }

  private func stepBehind(_ operation: NetworkOperation, _ transfer: Transfer, code: Int32?) -> Step {
    let isJudged = operation.isJudged
    move(operation, to: .deciding)
    var failure = transfer.end(code: code)
    connectivity?.note(operation, transfer, failure)
    let metrics = transfer.metrics()
    if isJudged, let origin = operation.loop.origin {
      apply(sizingEvent(operation, transfer, failure, metrics), to: origin, now: MonotonicClock.now)
    }
    driver.bytesIn.add(metrics.bytesReceived, ordering: .relaxed)
    driver.bytesOut.add(metrics.bytesSent, ordering: .relaxed)
    let next = transfer.exchange.next.take()
    // While others have connections that will be free, it waits for its turn like any other.
    if failure?.code == .tooManyOpenFiles, !isClosing, !running.isEmpty {
      descriptors.didFail(running: running.count, now: MonotonicClock.now)
      return successor(of: transfer, operation, .again)
    }
    if let failure, next == nil, !isClosing,
      let delay = repetition.delay(operation, transfer, .failure(failure.code), failure: failure)
    {
      // The silent repetition is nobody's to refuse.
      if delay > 0 { endImpatient(operation, transfer, failure, .failure(failure.code)) }
      return successor(of: transfer, operation, .retry(after: delay))
    }
    if let failure, next == nil, !isClosing, let wait = originWait(operation, transfer, failure) {
      return .wait(wait)
    }
    if failure == nil || (code != nil && Self.isBeyondAnswer(failure)), let next {
      guard case .fail(let refusal) = next else {
        if case .retry = next, let status = transfer.exchange.head?.status {
          endImpatient(operation, transfer, nil, .status(status))
        }
        // Only a redirect that came whole is stored.
        if failure != nil { operation.loop.cacheUse?.findings.entry = nil }
        return successor(of: transfer, operation, next)
      }
      failure = refusal
    }
    return finish(operation, transfer, metrics, failure)
  }

  /// A body that was to be dropped anyway may end badly; a limit of time holds for it as well.
  private static func isBeyondAnswer(_ failure: NetworkError?) -> Bool { failure?.sendState == .answered }

  private func finish(
    _ operation: NetworkOperation, _ transfer: Transfer, _ metrics: NetworkResponse.Metrics,
    _ failure: NetworkError?
  ) -> Step {
    let ending = makeEnding(operation, transfer, metrics, failure)
    if operation.loop.extras?.fanout != nil {
      operation.makeHistory().spent += transfer.exchange.deadlines?.spent(now: MonotonicClock.now) ?? 0
    }
    operation.loop.transfer = nil
    reportLastProgress(operation, transfer)
    recycle(transfer, operation)
    if let answer = ending.answer, answer.source != .network { return .answer(answer) }
    if let standIn = operation.loop.cacheUse?.standIn {
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
      of: operation, transfer, metrics, failure: failure.map { blamingNetwork($0, operation) })
    if let use = operation.loop.cacheUse {
      cacheBridge.finish(use, operation, transfer, &ending)
    } else {
      cacheBridge.storePosted(ending, transfer, of: operation)
    }
    if ending.failure == nil, let answer = ending.answer,
      answer.head.status == 401 || answer.head.status == 407
    {
      ending.failure = planner.authenticator.refusal(operation, answer)
    }
    return ending
  }

  func recycle(_ transfer: Transfer, _ operation: NetworkOperation) {
    let mayServeAgain = transfer.mayServeAgain
    transfer.reset()
    if !isClosing, mayServeAgain, !transfer.multi.isRetired { operation.loop.origin?.idle.give(transfer) }
  }

  /// The link is back. What was connecting has sent into the one that was, and would wait ever longer to send it again.
  func restartConnecting() {
    loop.assertOnLoop()
    for transfer in running where transfer.isConnecting {
      guard let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        OriginWatch.needsRoute(origin, operation.engine.handleSettings)
      else { continue }
      connectAgain(operation, transfer, origin)
    }
  }

  /// Has those that connect to an address that does not answer try the next.
  func failOver(now: Microseconds) {
    for transfer in running {
      guard let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        names.giveUpAddress(of: transfer, operation, at: origin, now: now)
      else { continue }
      connectAgain(operation, transfer, origin)
    }
  }

  /// Nothing has been sent, so that nobody hears of it.
  func connectAgain(_ operation: NetworkOperation, _ transfer: Transfer, _ origin: Origin) {
    let isJudged = operation.isJudged
    move(operation, to: .deciding)
    if isJudged { apply(.abandoned, to: origin, now: MonotonicClock.now) }
    _ = transfer.end(code: nil)
    go(operation, from: successor(of: transfer, operation, .again))
  }

  // MARK: The next one

  /// The next exchange of the same operation; its transfer goes back first.
  private func successor(
    of transfer: Transfer, _ operation: NetworkOperation, _ next: Exchange.Next
  ) -> Step {
    let history = operation.makeHistory()
    if history.firstStart == 0 { history.firstStart = transfer.exchange.startedAt }
    history.spent += transfer.exchange.deadlines?.spent(now: MonotonicClock.now) ?? 0
    history.needsFreshConnection = false
    if case .again = next {} else { history.failover = (0, 0) }
    history.delivered.received = max(history.delivered.received, transfer.exchange.reportedBytes)
    history.delivered.sent = max(history.delivered.sent, transfer.exchange.reportedSent)
    if case .ask = next {
      history.authentication.refusal = Ending(of: operation, transfer, transfer.metrics()).answer
    }
    if case .redirect = next { cacheBridge.storeRedirect(operation, transfer) }
    let part = transfer.exchange.hasStreamed ? operation.partToGoOnWith : nil
    operation.loop.transfer = nil
    recycle(transfer, operation)
    return step(operation, next, part, history)
  }

  private func step(
    _ operation: NetworkOperation, _ next: Exchange.Next, _ part: PartFile?, _ history: ExchangeHistory
  ) -> Step {
    switch next {
    case .redirect(let hop): return .follow(hop)
    case .withoutExpect:
      history.refusesExpect = true
      return .again(after: 0)
    case .unconditional:
      cacheSide.release(operation)
      operation.loop.cacheUse = operation.loop.cacheUse.map { CacheUse($0.cache, $0.question, held: nil) }
      return .again(after: 0)
    case .authorized, .again: return .again(after: 0)
    case .ask(let provider): return ask(provider, for: operation, history)
    case .retry(let seconds):
      history.attempts += 1
      history.spentBefore = history.spent + Microseconds(seconds * 1e6)
      history.needsFreshConnection = seconds == 0
      if let part { return goOn(operation, with: part, after: seconds) }
      return .again(after: seconds)
    case .fail(let failure): return .fail(failure)
    }
  }

  func follow(_ hop: RedirectHop, _ operation: NetworkOperation) -> Step {
    let history = operation.makeHistory()
    history.follow(hop, defaults: operation.engine.headers)
    operation.loop.hasAwaitedClaim = false
    if handOver(operation, to: history.target.url) { return .done }
    do throws(NetworkError) {
      operation.loop.origin = try origins.find(history.target.url, make: makeOrigin).origin
    } catch { return .fail(error) }
    return .consult(then: .front)
  }

  func delay(_ operation: NetworkOperation, seconds: Double) -> Step {
    guard seconds > 0 else {
      operation.forEachRecipient { set(.queued, $0) }
      return .route(atFront: true)
    }
    operation.loop.history?.spent += Microseconds(seconds * 1e6)
    return .wait(Wait(.delay, then: .route(atFront: true), atMost: UInt64(seconds * 1000)))
  }
}
