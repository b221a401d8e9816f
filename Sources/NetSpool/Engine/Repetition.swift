/// Whether an attempt is repeated, and when. It owns no operation: what it decides, the scheduler does. Loop thread.
struct Repetition {
  var random: any RandomNumberGenerator = SystemRandomNumberGenerator()

  /// Seconds until the next attempt; nil when there is none.
  mutating func delay(
    _ operation: NetworkOperation, _ transfer: Transfer, _ cause: FailedAttempt.Cause,
    head: ResponseHead? = nil, failure: NetworkError? = nil
  ) -> Double? {
    guard operation.loop.extras?.sinkFailure == nil || operation.loop.isDetached else { return nil }
    let request = operation.sent
    let history = operation.loop.history
    let attempts = history?.countedAttempts ?? 1
    let isUnprocessed = transfer.exchange.isUnprocessed && attempts < Transfer.sendsMax
    if isUnprocessed || transfer.exchange.hasMetUnaskedBytes, transfer.exchange.head == nil,
      request.prepared.canReplay
    {
      return 0
    }
    guard let origin = operation.loop.origin else { return nil }
    let attempt = FailedAttempt(
      cause: cause, number: attempts, method: history?.target.method ?? request.method,
      isKeyed: operation.isKeyed,
      isReplayable: request.prepared.canReplay
        && operation.recipients.contains { Self.mayBeginAnew($0, operation, transfer) },
      sendState: failure?.sendState ?? .answered, wasReused: transfer.metrics().connectionReused,
      retryAfter: head?.retryAfter, secondsLeft: operation.secondsLeft(request, transfer),
      isPaced: cause == .status(429) && origin.sizing.heedsRefusals)
    let policy = Self.policy(of: operation, request) {
      Self.mayBeginAnew($0, operation, transfer)
    } wanting: {
      $0.repeats(cause, after: attempts, request.method)
    }
    let random = Double.random(in: Double.leastNormalMagnitude..<1, using: &random)
    return retryDecision(attempt, policy: policy, budget: &origin.budget, random: random)
  }

  /// The most patient policy of the operations that share the exchange and are able to have another, of those that want what has
  /// happened repeated if there are such.
  static func policy(
    of operation: NetworkOperation, _ request: NetworkRequest,
    among able: (NetworkOperation) -> Bool = { _ in true },
    wanting: (NetworkRequest.Retry) -> Bool = { _ in true }
  ) -> NetworkRequest.Retry {
    let own = request.retry(of: operation.engine)
    if operation.loop.waitersLeft == 0 { return own }
    let policies = operation.recipients.filter(able).map { $0.sent.retry(of: $0.engine) }
    let wanted = policies.filter(wanting)
    return (wanted.isEmpty ? policies : wanted).max { $0.attemptsMax < $1.attemptsMax } ?? own
  }

  /// Returns the operations that share an exchange and want no other attempt, or have streams that would get a body twice.
  static func impatient(
    _ leader: NetworkOperation, _ transfer: Transfer, _ cause: FailedAttempt.Cause
  ) -> [NetworkOperation] {
    guard leader.loop.waitersLeft > 0 else { return [] }
    let attempts = leader.loop.history?.countedAttempts ?? 1
    return leader.recipients.filter { recipient in
      let policy = recipient.sent.retry(of: recipient.engine)
      return !policy.repeats(cause, after: attempts, recipient.sent.method)
        || !mayBeginAnew(recipient, leader, transfer)
    }
  }

  /// Its streams have got nothing of the body that broke off, or go on behind it.
  private static func mayBeginAnew(
    _ recipient: NetworkOperation, _ leader: NetworkOperation, _ transfer: Transfer
  ) -> Bool {
    !recipient.loop.hasSinks || !transfer.exchange.hasStreamed || leader.partToGoOnWith != nil
  }
}

extension ResponseHead {
  /// Seconds, when the origin asks for a pause (RFC 9110 section 10.2.3).
  var retryAfter: Double? {
    headers.first("Retry-After").flatMap { RetryAfter.parse(Array($0.utf8)[...], now: WallClock.seconds) }
  }
}

extension NetworkRequest {
  /// What is repeated of it when this engine sends it.
  func retry(of engine: NetworkEngine) -> Retry {
    hasExtras ? extra.retry.over(engine.configuration.retry) : engine.configuration.retry
  }

  /// The limits of time that hold for it when this engine sends it.
  func limits(of engine: NetworkEngine) -> Timeouts {
    hasExtras ? extra.timeouts.over(engine.configuration.timeouts) : engine.configuration.timeouts
  }
}

extension NetworkOperation {
  /// Loop thread: the time limits that hold for it.
  func timeLimits(_ request: NetworkRequest) -> NetworkRequest.Timeouts {
    request.limits(of: engine).forStreams(hasStreams || request.streamsBody)
  }

  /// Loop thread: those of its exchange, the longest of all who share it.
  func exchangeLimits(_ request: NetworkRequest) -> NetworkRequest.Timeouts {
    if loop.waitersLeft == 0 { return timeLimits(request) }
    let limits = recipients.map { recipient in
      var limits = recipient.timeLimits(recipient.sent)
      let before = spent(on: loop.transfer) - recipient.spent(with: self, on: loop.transfer)
      limits.total = limits.total.map { $0 + .microseconds(before) }
      return limits
    }
    return limits.dropFirst().reduce(limits.first ?? timeLimits(request)) { $0.longest($1) }
  }

  /// Loop thread: what is left of the exchange's total.
  func secondsLeft(_ request: NetworkRequest, _ transfer: Transfer?) -> Double {
    guard let total = exchangeLimits(request).total else { return .infinity }
    return Double(total.microseconds - spent(on: transfer)) / 1e6
  }

  /// Loop thread: what its exchanges have taken so far, this one included.
  func spent(on transfer: Transfer?) -> Microseconds {
    (loop.history?.spent ?? 0) + (transfer?.exchange.deadlines?.spent(now: MonotonicClock.now) ?? 0)
  }

  /// Loop thread: the same of one that shares them, and may have come later.
  func spent(with leader: NetworkOperation, on transfer: Transfer?) -> Microseconds {
    let spent = leader.spent(on: transfer)
    return self === leader ? spent : min(spent, MonotonicClock.now - loop.joinedAt)
  }
}

extension NetworkRequest {
  /// Its body comes from a stream or a file, and may be as long as it likes.
  var streamsBody: Bool {
    switch prepared {
    case .none, .bytes: false
    case .file, .multipart, .stream: true
    }
  }
}
