extension NetworkRequest {
  /// When a failed attempt is followed by another. Only idempotent methods and requests with an
  /// `idempotencyKey` are ever repeated. The decision itself is `retryDecision`.
  public struct Retry: Sendable, Hashable {
    /// Attempts in all, the first included.
    var attemptsMax: Int
    /// Seconds. The wait before attempt n + 1 is drawn evenly from 0 to `base * 2^(n - 1)`, at most `cap`: full
    /// jitter, which keeps clients that failed together from coming back together.
    var backoffBaseSeconds = 0.5
    var backoffCapSeconds: Double = 30
    /// Retry-After is a floor for the wait; a longer one is cut to this. Default 1 hour.
    var retryAfterSecondsMax: Double = 3600
    /// Whether a first attempt that died with the reused connection it was sent on is repeated at once. The
    /// origin closed that connection while idle (RFC 9112 section 9.3.1); it is no sign of trouble.
    var repeatsOnDeadConnection = true
    /// The answers that are worth another attempt.
    var statuses = Self.transientStatuses

    /// Never repeated.
    public static let none = Self(attemptsMax: 1, repeatsOnDeadConnection: false)
    /// The default: one silent repeat when a reused connection turned out to be dead (RFC 9112 section 9.3.1).
    public static let deadConnection = Self(attemptsMax: 1)
    /// Three attempts with full-jitter backoff (0.5 s doubling, at most 30 s), `Retry-After` honoured up to an
    /// hour, and at most one request in ten repeated.
    public static let standard = Self(attemptsMax: 3)

    /// As `standard`, with so many attempts in all.
    public static func attempts(_ count: Int) -> Self { Self(attemptsMax: max(1, count)) }

    /// 408, 425, 429, 500, 502, 503, 504.
    static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  }
}
