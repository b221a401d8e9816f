/// Whether an attempt is repeated.
extension Scheduler {
  /// Seconds until the next attempt; nil when there is none.
  func retryDelay(
    _ operation: NetworkOperation, _ transfer: Transfer, _ cause: FailedAttempt.Cause,
    head: ResponseHead? = nil,
    failure: NetworkError? = nil
  ) -> Double? {
    guard !isClosing, operation.loop.extras?.sinkFailure == nil else { return nil }
    let request = operation.request
    if transfer.hasMetUnaskedBytes, transfer.head == nil, request.prepared.canReplay { return 0 }
    let attempt = FailedAttempt(
      cause, number: operation.loop.exchangeState?.attempts ?? 1,
      isIdempotent: (operation.loop.exchangeState?.method ?? request.method).isIdempotent,
      isKeyed: request.idempotencyKey != nil,
      isReplayable: !transfer.hasStreamed && request.prepared.canReplay,
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

  func retryPolicy(_ operation: NetworkOperation, _ request: NetworkRequest) -> NetworkRequest.Retry {
    request.retry ?? operation.engine.configuration.retry
  }

  static func retryAfter(_ head: ResponseHead) -> Double? {
    head.headers.first("Retry-After").flatMap {
      RetryAfter.parse(Array($0.utf8)[...], now: WallClock.seconds)
    }
  }
}
