internal import Synchronization

/// What follows from a finished exchange: another one, or the end.
extension Scheduler {
  // MARK: The head

  /// Decides at the head what becomes of the body. In the middle of libcurl's work, so it only notes.
  func bodyUse(_ transfer: Transfer, _ head: ResponseHead) -> BodyUse {
    guard let operation = transfer.owner as? NetworkOperation else { return .discard }
    noteLatency(operation, transfer, head)
    if let next = nextExchange(operation, transfer, head) {
      operation.makeExchangeState().next = next
      if case .redirect = next { cacheBridge.invalidate(operation, head) }
      if case .ask = next { return .collect }  // the provider may look at it
      if case .retry = next, !impatient(operation, .status(head.status)).isEmpty { return .collect }
      return .discard
    }
    let cacheUse = operation.loop.cacheUse
    if let cacheUse, cacheUse.notModified == nil { cacheBridge.noteHead(cacheUse, transfer, head) }
    guard operation.loop.extras?.fanout != nil, head.status < 300 else { return .collect }
    var use = BodyUse(collects: operation.recipients.contains { !$0.hasStreams }, streams: true)
    cacheUse?.hasOpenedStreams = true
    if let cacheUse, !use.collects {
      use.keepsMax = cacheBridge.keptBytesMax(cacheUse, transfer, beside: running)
    }
    return use
  }

  private func nextExchange(
    _ operation: NetworkOperation, _ transfer: Transfer, _ head: ResponseHead
  ) -> ExchangeState.Next? {
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
    guard head.status >= 400 else { return nil }
    if head.status == 401, let next = authenticator.challenged(operation, head) { return next }
    let delay = retryDelay(operation, transfer, .status(head.status), head: head)
    return delay.map { .retry(after: $0) }
  }

  /// 304 and 206 answer a question that was not put, so what they leave out is nowhere (RFC 9110 sections
  /// 15.3.7 and 15.4.5).
  private func unasked(_ operation: NetworkOperation, _ head: ResponseHead) -> NetworkError? {
    let fields = operation.loop.exchangeState?.headers ?? operation.request.headers
    let names: [String]
    switch head.status {
    case 304: names = ["If-None-Match", "If-Modified-Since"]
    case 206: names = ["Range"]
    default: return nil
    }
    if names.contains(where: { fields.contains($0) || operation.engine.headers.contains($0) }) { return nil }
    return NetworkError(.protocolViolation, reason: "unasked\(head.status)", sendState: .answered)
  }

  /// Once, and only before a byte of the body has gone (RFC 9110 section 10.1.1).
  private func mayGoWithoutExpect(_ operation: NetworkOperation, _ transfer: Transfer) -> Bool {
    transfer.hasBodyToSend && transfer.bytesSent == 0 && operation.loop.exchangeState?.refusesExpect != true
      && operation.request.prepared.canReplay
  }

  private func redirect(_ operation: NetworkOperation, _ head: ResponseHead) -> ExchangeState.Next? {
    let request = operation.request
    let policy = request.redirects ?? operation.engine.configuration.redirects
    do throws(NetworkError) {
      guard
        let location = try RedirectDecision.location(
          status: head.status, fields: head.headers, policy: policy)
      else { return nil }
      let exchangeState = operation.makeExchangeState()
      let current = try URLParser.parse(exchangeState.url).pieces
      let target = try Self.resolve(location, against: exchangeState.url)
      let history = exchangeState.history ?? RedirectHistory(method: exchangeState.method, url: current)
      exchangeState.history = history
      let hop = try RedirectDecision.hop(
        status: head.status, method: exchangeState.method,
        hasBody: hasBody(request) && exchangeState.keepsBody,
        from: current, to: target, history: history, policy: policy)
      if hop.keepsBody, !request.prepared.canReplay {
        throw NetworkError(
          .redirectRefused, reason: "body", underlying: .http(head.status), sendState: .answered)
      }
      return .redirect(hop)
    } catch {
      return .fail(error)
    }
  }

  private static func resolve(_ location: String, against base: String) throws(NetworkError) -> URLPieces {
    do throws(NetworkError) {
      return try URLParser.parse(location, relativeTo: base).pieces
    } catch {
      if error.cause == .scheme {
        throw NetworkError(.redirectRefused, cause: .scheme, sendState: .answered)
      }
      throw NetworkError(.badLocation, reason: error.reason, sendState: .answered)
    }
  }

  private func hasBody(_ request: NetworkRequest) -> Bool {
    if case .none = request.prepared { return false }
    return true
  }

  // MARK: The end of an exchange

  /// libcurl reported the end, or (without a code) we ended it.
  func completed(_ transfer: Transfer, code: Int32?) {
    loop.assertOnLoop()
    guard let operation = transfer.owner as? NetworkOperation else {
      connectivity?.probed(transfer, code: code)
      return
    }
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
    let next = operation.loop.exchangeState?.next
    operation.loop.exchangeState?.next = nil
    if let failure, next == nil,
      let delay = retryDelay(operation, transfer, .failure(failure.code), failure: failure)
    {
      // The silent repetition is nobody's to refuse.
      if delay > 0 { endImpatient(operation, transfer, failure, .failure(failure.code)) }
      return goOn(operation, transfer, .retry(after: delay))
    }
    if failure == nil || (code != nil && Self.isBeyondAnswer(failure)), let next {
      guard case .fail(let refusal) = next else {
        if case .retry = next, let status = transfer.head?.status {
          endImpatient(operation, transfer, nil, .status(status))
        }
        return goOn(operation, transfer, next)
      }
      failure = refusal
    }
    finish(operation, transfer, failure, metrics)
  }

  /// A body that was to be dropped anyway may end badly; a limit of time holds for it as well.
  private static func isBeyondAnswer(_ failure: NetworkError?) -> Bool { failure?.sendState == .answered }

  /// Who shares the exchange and wants no other attempt gets what there is; the others go on.
  private func endImpatient(
    _ leader: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?, _ cause: FailedAttempt.Cause
  ) {
    let leaving = impatient(leader, cause)
    if leaving.isEmpty { return }
    let answer = makeAnswer(leader, transfer, transfer.metrics())
    for recipient in leaving {
      let reason = failure ?? answer.map { NetworkError(status: $0) } ?? NetworkError(.cancelled)
      leader.loop.extras?.fanout?.abandon(recipient.id, reason)
      if recipient === leader { leader.loop.isDetached = true } else { move(recipient, to: .ended) }
      deliver(to: recipient, answer, failure, nil)
    }
  }

  /// The next exchange of the same operation; its transfer goes back first.
  private func goOn(_ operation: NetworkOperation, _ transfer: Transfer, _ next: ExchangeState.Next) {
    let exchangeState = operation.makeExchangeState()
    if exchangeState.firstStart == 0 { exchangeState.firstStart = transfer.startedAt }
    exchangeState.spent += transfer.deadlines?.spent(now: MonotonicClock.now) ?? 0
    if case .ask = next { exchangeState.refusal = makeAnswer(operation, transfer, transfer.metrics()) }
    operation.loop.transfer = nil
    recycle(transfer, operation)
    switch next {
    case .redirect(let hop): redirect(operation, exchangeState, hop)
    case .withoutExpect:
      exchangeState.refusesExpect = true
      delay(operation, seconds: 0)
    case .unconditional:
      operation.loop.cacheUse = operation.loop.cacheUse.map { CacheUse($0.cache, $0.question, held: nil) }
      delay(operation, seconds: 0)
    case .authorized: delay(operation, seconds: 0)
    case .ask(let provider): ask(provider, for: operation, exchangeState)
    case .retry(let seconds):
      exchangeState.attempts += 1
      exchangeState.needsFreshConnection = seconds == 0
      delay(operation, seconds: seconds)
    case .fail(let failure): endLeader(operation, failure)
    }
  }

  private func redirect(_ operation: NetworkOperation, _ exchangeState: ExchangeState, _ hop: RedirectHop) {
    exchangeState.history?.append(method: hop.method, url: hop.url)
    if !hop.isSameOrigin && !exchangeState.isForeign {
      exchangeState.isForeign = true
      exchangeState.headers = hop.keptFields(of: merged(operation, exchangeState))
    } else {
      exchangeState.headers = hop.keptFields(of: exchangeState.headers)
    }
    exchangeState.url = hop.url.text
    exchangeState.sent.beginAnew()
    exchangeState.method = hop.method
    exchangeState.keepsBody = exchangeState.keepsBody && hop.keepsBody
    do throws(NetworkError) {
      operation.loop.origin = try origins.place(exchangeState.url, make: makeOrigin).origin
    } catch { return endLeader(operation, error) }
    if consult(operation, operation.request) { return }
    wait(operation, operation.request.priority, atFront: true)
  }

  /// The engine's fields and the request's own, which win.
  private func merged(_ operation: NetworkOperation, _ exchangeState: ExchangeState) -> Headers {
    var fields = Headers()
    for field in operation.engine.headers where !exchangeState.headers.contains(field.name) {
      fields.append(name: field.nameBytes, value: field.valueBytes)
    }
    for field in exchangeState.headers { fields.append(name: field.nameBytes, value: field.valueBytes) }
    return fields
  }

  func delay(_ operation: NetworkOperation, seconds: Double) {
    guard seconds > 0 else {
      operation.forEachRecipient { set(.queued, $0) }
      return wait(operation, operation.request.priority, atFront: true)
    }
    operation.loop.exchangeState?.spent += Microseconds(seconds * 1e6)
    let timer = timers.after(milliseconds: UInt64(seconds * 1000)) { [unowned self] in
      wait(operation, operation.request.priority, atFront: true)
    }
    move(operation, to: .delayed(timer))
  }

  // MARK: The end of the operation

  private func finish(
    _ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError?,
    _ metrics: NetworkResponse.Metrics
  ) {
    var (answer, failure) = (
      makeAnswer(operation, transfer, metrics), failure.map { blamingNetwork($0, operation) }
    )
    cacheBridge.settle(operation, transfer, &answer, &failure)
    if failure == nil { failure = answer.flatMap { authenticator.refusal(operation, $0) } }
    let fanout = operation.loop.extras?.fanout
    unregister(operation)
    operation.loop.transfer = nil
    reportLastProgress(operation, transfer)
    let bodySize = transfer.bodyBytes
    recycle(transfer, operation)
    if let answer, answer.source != .network { return self.answer(operation, answer) }
    guard let fanout else { return deliver(operation, answer, failure, nil) }
    let refusal =
      failure ?? answer.flatMap { bodySize >= 0 && $0.head.status >= 300 ? NetworkError(status: $0) : nil }
    publish(operation, answer, failure, fanout, refusal: refusal)
  }

  /// The body is whole, or never will be: the streams end, and then the operation.
  func publish(
    _ operation: NetworkOperation, _ answer: NetworkResponse?, _ failure: NetworkError?, _ fanout: SinkFanout,
    refusal: NetworkError?
  ) {
    move(operation, to: .publishing)
    fanout.finish(refusal) { [self] in
      deliver(operation, answer, failure, fanout)
      loop.markDirty()
    }
  }

  private func makeAnswer(
    _ operation: NetworkOperation, _ transfer: Transfer, _ metrics: NetworkResponse.Metrics
  ) -> NetworkResponse? {
    guard var head = transfer.head else { return nil }
    head.trailers = transfer.trailers
    var metrics = metrics
    metrics.attempts = operation.loop.exchangeState?.attempts ?? 1
    metrics.redirects = operation.loop.exchangeState?.history?.hops ?? 0
    let firstStart = operation.loop.exchangeState.map {
      $0.firstStart == 0 ? transfer.startedAt : $0.firstStart
    }
    metrics.queueWaitTime = max(0, (firstStart ?? transfer.startedAt) - operation.loop.submittedAt)
    let body = transfer.keptBytesMax > 0 ? ResponseBody.empty : ResponseBody(transfer.takeCollected())
    return NetworkResponse(
      head: head, body: body, source: .network, finalURL: transfer.url,
      metrics: metrics, streams: [])
  }

  func deliver(
    _ operation: NetworkOperation, _ answer: NetworkResponse?, _ failure: NetworkError?, _ fanout: SinkFanout?
  ) {
    let recipients = operation.recipients
    var failure = failure
    failure?.attempts = answer?.metrics.attempts ?? operation.loop.exchangeState?.attempts ?? 1
    operation.loop.extras?.fanout = nil
    operation.loop.cacheUse = nil  // who keeps the operation does not keep what the cache lent
    for recipient in recipients where recipient !== operation { move(recipient, to: .ended) }
    operation.loop.extras?.waiters = []
    move(operation, to: .ended)
    for recipient in recipients { deliver(to: recipient, answer, failure, fanout) }
  }

  private func deliver(
    to recipient: NetworkOperation, _ answer: NetworkResponse?, _ failure: NetworkError?,
    _ fanout: SinkFanout?
  ) {
    var answer = answer
    answer?.metrics.endToEndTime = MonotonicClock.now - recipient.loop.submittedAt
    if var failure = recipient.loop.extras?.sinkFailure ?? failure {
      failure.response = failure.response ?? answer
      conclude(recipient, failure)
    } else if var answer {
      if cacheBridge.repeats(recipient, answer) { recipient.shared.withLock { $0.isRepetition = true } }
      recipient.loop.extras?.provided = nil
      if let fanout { answer.streams = fanout.reports(of: recipient.id) }
      if answer.head.status == 304 || answer.source == .revalidated { tell(recipient, .notModified) }
      conclude(recipient, .success(answer))
    }
  }

  /// Ends a leader that has no exchange under way, and all who wait for it.
  func endLeader(_ operation: NetworkOperation, _ failure: NetworkError) {
    unregister(operation)
    guard let fanout = operation.loop.extras?.fanout else { return deliver(operation, nil, failure, nil) }
    publish(operation, nil, failure, fanout, refusal: failure)
  }

  func unregister(_ operation: NetworkOperation) {
    guard operation.loop.sharingKey != 0 else { return }
    coalescer.remove(operation, operation.loop.sharingKey)
    operation.loop.sharingKey = 0
  }

  func recycle(_ transfer: Transfer, _ operation: NetworkOperation) {
    transfer.reset()
    if !isClosing, transfer.mayServeAgain { operation.loop.origin?.idle.give(transfer) }
  }
}
