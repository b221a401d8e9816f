/// Keeps a lane from hammering an origin that fails: after so many failures in a row it sleeps, and then sends
/// one request to see.
struct LaneBreaker: Sendable, Hashable {
  /// 5.
  static let failuresMax: UInt32 = 5

  private(set) var failures: UInt32 = 0
  /// The lane sends nothing before this.
  private(set) var sleepsUntil: Microseconds = .min

  var isOpen: Bool { failures >= Self.failuresMax }

  mutating func didSucceed() { self = LaneBreaker() }

  mutating func didFail(at now: Microseconds, policy: FrozenPolicy, random: Double) {
    failures += 1
    guard isOpen else { return }
    sleepsUntil = now + policy.backoff(afterFailures: failures, random: random)
  }

  /// The network changed: what failed before says little.
  mutating func wake() { sleepsUntil = .min }
}
