/// When a failed attempt is followed by another. Only idempotent methods and requests with an
/// `idempotencyKey` are ever repeated.
public struct RequestRetry: Sendable, Hashable {
  var core: RetryPolicy

  /// Never repeated.
  public static let none = Self(core: .none)
  /// The default: one silent repeat when a reused connection turned out to be dead (RFC 9112 section 9.3.1).
  public static let deadConnection = Self(core: .deadConnection)
  /// Three attempts with full-jitter backoff (0.5 s doubling, at most 30 s), `Retry-After` honoured up to an
  /// hour, and at most one request in ten repeated.
  public static let standard = Self(core: .standard)

  /// As `standard`, with so many attempts in all.
  public static func attempts(_ count: Int) -> Self {
    Self(core: RetryPolicy(attemptsMax: max(1, count)))
  }
}
