/// A frozen request: what is to be sent, and how far it has come. `handle` is its state machine.
struct FrozenRecord: Sendable, Hashable {
  var facts: FrozenFacts
  let request: FrozenRequest
  /// Why the last attempt failed.
  var lastError: NetworkError.Code?

  init(_ request: FrozenRequest, facts: FrozenFacts, lastError: NetworkError.Code? = nil) {
    self.request = request
    self.facts = facts
    self.lastError = lastError
  }

  var state: FrozenFacts.State { facts.state }

  /// Whether sending it again is safe, when an earlier attempt may have reached the origin: the method itself
  /// says so (RFC 9110 section 9.2.2), the caller does, or it carries a key that the origin still remembers.
  func isReplaySafe(at now: FrozenMoment, policy: FrozenPolicy) -> Bool {
    if request.method.isIdempotent || facts.flags.contains(.atLeastOnce) { return true }
    guard request.sendsKey else { return false }
    guard facts.firstSend != nil else { return true }
    guard let elapsed = facts.timeSinceFirstSend(at: now) else { return false }
    return elapsed < policy.idempotencyWindow
  }
}
