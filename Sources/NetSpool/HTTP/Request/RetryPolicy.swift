/// When a failed attempt is followed by another. The decision itself is `retryDecision`.
struct RetryPolicy: Hashable, Sendable {
  /// Attempts in all, the first included.
  var attemptsMax: Int
  /// Seconds. The wait before attempt n + 1 is drawn evenly from 0 to `base * 2^(n - 1)`, at most `cap`: full
  /// jitter, which keeps clients that failed together from coming back together.
  var backoffBaseSeconds: Double
  var backoffCapSeconds: Double
  /// Retry-After is a floor for the wait; a longer one is cut to this. Default 1 hour.
  var retryAfterSecondsMax: Double
  /// Whether a first attempt that died with the reused connection it was sent on is repeated at once. The
  /// origin closed that connection while idle (RFC 9112 section 9.3.1); it is no sign of trouble.
  var repeatsOnDeadConnection: Bool
  /// The answers that are worth another attempt.
  var statuses: Set<Int>
  /// The failures that are worth another attempt.
  var failures: Set<FailureCode>

  init(
    attemptsMax: Int, backoffBaseSeconds: Double = 0.5, backoffCapSeconds: Double = 30,
    retryAfterSecondsMax: Double = 3600, repeatsOnDeadConnection: Bool = true,
    statuses: Set<Int> = Self.transientStatuses, failures: Set<FailureCode> = Self.transientFailures
  ) {
    self.attemptsMax = attemptsMax
    self.backoffBaseSeconds = backoffBaseSeconds
    self.backoffCapSeconds = backoffCapSeconds
    self.retryAfterSecondsMax = retryAfterSecondsMax
    self.repeatsOnDeadConnection = repeatsOnDeadConnection
    self.statuses = statuses
    self.failures = failures
  }

  /// Never.
  static let none = RetryPolicy(attemptsMax: 1, repeatsOnDeadConnection: false)
  /// The default: one silent repeat on a dead reused connection, nothing else.
  static let deadConnection = RetryPolicy(attemptsMax: 1)
  /// Three attempts with backoff, and the silent repeat.
  static let standard = RetryPolicy(attemptsMax: 3)

  /// 408, 425, 429, 500, 502, 503, 504.
  static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// What the network does; not what the request, the configuration or the disk did.
  static let transientFailures: Set<FailureCode> = [
    .resolveFailed, .connectFailed, .timedOut, .connectionLost, .transportFailed, .http2Failed,
    .truncatedHeaders, .bodyTruncated,
  ]
}
