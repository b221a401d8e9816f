/// Whether an attempt is repeated, and what the origin's width learns from it.
extension EngineCore {
  /// Seconds until the next attempt; nil when there is none.
  func retryDelay(
    _ operation: Operation, _ transfer: Transfer, _ cause: FailedAttempt.Cause, head: ResponseHead? = nil,
    failure: Failure? = nil
  ) -> Double? {
    guard !isClosing, operation.loop.sinkFailure == nil else { return nil }
    let request = operation.request
    let attempt = FailedAttempt(
      cause, number: operation.loop.journey?.attempts ?? 1,
      isIdempotent: (operation.loop.journey?.method ?? request.method).isIdempotent,
      isKeyed: request.hasExtras && request.extra.idempotencyKey != nil,
      isReplayable: !transfer.hasStreamed && (!request.hasExtras || request.extra.prepared.canReplay),
      sendState: failure?.sendState ?? .answered, wasReused: transfer.metrics().connectionReused,
      retryAfter: head.flatMap { Self.retryAfter($0) })
    let policy = retryPolicy(operation, request)
    guard let origin = operation.loop.origin else { return nil }
    let random = Double.random(in: 0..<1, using: &random)
    guard
      case .retry(let seconds) = retryDecision(
        attempt, policy: policy, budget: &origin.budget, random: random)
    else { return nil }
    return seconds
  }

  func retryPolicy(_ operation: Operation, _ request: Request) -> RetryPolicy {
    (request.hasExtras ? request.extra.retry : nil) ?? operation.context.retry
  }

  static func retryAfter(_ head: ResponseHead) -> Double? {
    head.headers.first("Retry-After").flatMap {
      RetryAfter.parse(Array($0.utf8)[...], now: WallClock.seconds)
    }
  }

  func sizingEvent(_ transfer: Transfer, _ failure: Failure?, _ firstByte: Int64) -> OriginSizing.Event {
    if let failure {
      return failure.code == .cancelled || failure.code == .sinkFailed ? .abandoned : .failed
    }
    guard let head = transfer.head else { return .failed }
    if head.status == 429 || head.status == 503 { return .throttled(retryAfter: Self.retryAfter(head)) }
    if head.status >= 500 { return .failed }
    return .finished(latency: Double(firstByte) / 1e6, bytes: transfer.bodyBytes)
  }

  /// Tells an origin's width what happened and the queue what follows.
  func apply(_ event: OriginSizing.Event, to origin: Origin, now: Microseconds) {
    origin.sizing.apply(event, now: now)
    if case .started = event { origin.budget.didSendRequest() }
    updateLimit(of: origin, now: now)
  }

  func updateLimit(of origin: Origin, now: Microseconds) {
    let limit = min(origin.sizing.limit(at: now), settings.maximumPerOrigin)
    if limit != origin.limit {
      origin.limit = limit
      queue.setLimit(limit, for: origin.id)
    }
    guard limit == 0, origin.hold == nil, let until = origin.sizing.holdUntil else { return }
    origin.hold = timers.after(milliseconds: UInt64(max(0, until - now) / 1000) + 1) {
      [unowned self, unowned origin] in
      origin.hold = nil
      updateLimit(of: origin, now: MonotonicClock.now)
    }
  }
}
