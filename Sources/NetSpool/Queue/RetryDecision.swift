/// The facts about an attempt that failed.
struct FailedAttempt: Sendable {
  enum Cause: Hashable, Sendable {
    case status(Int)
    case failure(NetworkError.Code)
  }

  var cause: Cause
  /// 1 for the first.
  var number = 1
  var method: NetworkRequest.Method
  /// True if the request carries an Idempotency-Key.
  var isKeyed = false
  /// True if body and sinks can start over: false for a consumed upload stream, and once a sink that cannot
  /// rewind has taken bytes.
  var isReplayable = true
  var sendState: NetworkError.SendState
  /// The connection had served another request before.
  var wasReused = false
  /// Seconds the origin asked us to wait.
  var retryAfter: Double?
  /// Seconds to the operation's deadline.
  var secondsLeft = Double.infinity
  /// A 429 of an origin that is asked less for it: it is in no trouble.
  var isPaced = false
}

/// Whether a failed attempt is repeated, and when. Takes from the budget only for a retry it grants, and neither for
/// the silent repeat, which answers a race of our own pool and puts no load on a struggling origin, nor for one that was
/// refused because it came too soon.
///
/// Only idempotent and keyed requests are repeated, also when nothing was sent: one rule the user can rely on. A policy may
/// say otherwise (`methods`).
///
/// - Parameter random: evenly distributed in 0..<1.
/// - Returns: seconds until the next attempt, or nil for none. After 0 it is the silent repeat: use a fresh connection, the
///   other idle ones are likely dead too.
func retryDecision(
  _ attempt: FailedAttempt, policy: NetworkRequest.Retry, budget: inout RetryBudget, random: Double
) -> Double? {
  guard attempt.isReplayable else { return nil }
  if policy.repeatsOnDeadConnection, attempt.isSafe, attempt.diedWithConnection { return 0 }
  guard policy.allows(attempt), policy.repeats(attempt.cause, after: attempt.number, attempt.method) else {
    return nil
  }
  let delay = policy.delay(after: attempt, random: random)
  guard delay < attempt.secondsLeft, attempt.isPaced || budget.withdraw() else { return nil }
  return delay
}

extension FailedAttempt {
  /// Sending it twice does no harm, as the method promises (RFC 9110 section 9.2.2) or the key.
  fileprivate var isSafe: Bool { method.isIdempotent || isKeyed }

  /// The first attempt, on a connection that had worked before, ended without a byte of an answer.
  fileprivate var diedWithConnection: Bool {
    number == 1 && wasReused && cause == .failure(.connectionLost) && sendState != .answered
      && secondsLeft > 0
  }
}

extension NetworkRequest.Retry {
  /// True if the method may be sent again: one that may change something only when it hardly has.
  fileprivate func allows(_ attempt: FailedAttempt) -> Bool {
    if attempt.isSafe { return true }
    if methods == .safe { return false }
    switch attempt.cause {
    case .status, .failure(.timedOut): return true
    case .failure: return repeatsAnyFailure || attempt.sendState == .notSent
    }
  }

  /// True if it asks for another attempt after so many.
  func repeats(_ cause: FailedAttempt.Cause, after count: Int, _ method: NetworkRequest.Method) -> Bool {
    count < attempts(method) && covers(cause)
  }

  /// Attempts in all.
  func attempts(_ method: NetworkRequest.Method) -> Int {
    if case .only(let methods) = methods, !methods.contains(method) { return 1 }
    return attemptsMax
  }

  fileprivate func covers(_ cause: FailedAttempt.Cause) -> Bool {
    switch cause {
    case .status(let status): statuses.contains(status) || repeatsAnyFailure && status >= 400
    case .failure(let code):
      code.traits.contains(.isTransient) || repeatsAnyFailure && !code.traits.contains(.isOurs)
    }
  }

  fileprivate func delay(after attempt: FailedAttempt, random: Double) -> Double {
    let asked = min(attempt.retryAfter ?? 0, retryAfterSecondsMax)
    if let pause { return max(Double(pause.microseconds) / 1e6, asked) }
    let doublings = min(max(attempt.number - 1, 0), 60)
    let span = min(backoffCapSeconds, backoffBaseSeconds * Double(1 << doublings))
    return max(random * span, asked)
  }
}

/// Keeps retries to a share of the requests, so that an origin in trouble does not get a multiple of its load.
///
/// Every request pays its share in, every retry takes one out. A small reserve lets a program that has sent
/// little retry at all; the ceiling keeps a long good time from paying for a storm.
struct RetryBudget: Sendable {
  /// Retries per request. Default 0.1.
  let share: Double
  /// Retries that can be saved up, and how many of them there are at the start. Defaults 100 and 10.
  let retriesMax: Double
  private var retries: Double

  init(share: Double = 0.1, reserve: Double = 10, retriesMax: Double = 100) {
    self.share = share
    self.retriesMax = retriesMax
    retries = min(reserve, retriesMax)
  }

  /// A request has been sent for the first time.
  mutating func didSendRequest() { retries = min(retries + share, retriesMax) }

  /// Takes one retry out; false when there is none.
  mutating func withdraw() -> Bool {
    // Ten tenths do not quite add up to one in binary.
    guard retries >= 1 - 1e-9 else { return false }
    retries -= 1
    return true
  }
}
