@testable import NetSpool

extension ClockMoment {
  /// A moment of both clocks, in seconds after one in 2026.
  static func at(_ seconds: Double, clockSetBy shift: Double = 0, boot: UInt64 = 1) -> ClockMoment {
    ClockMoment(
      wall: 1_790_000_000_000_000 + Microseconds((seconds + shift) * 1_000_000),
      monotonic: 5_000_000_000 + Microseconds(seconds * 1_000_000), boot: boot)
  }
}

extension FrozenRecord {
  static func sample(
    _ method: Method = .post, keyed: Bool = true, flags: FrozenFacts.Flags = [], scope: String = "",
    at now: ClockMoment = .at(0)
  ) -> FrozenRecord {
    var request = FrozenRequest(
      method: method, url: "https://example.org/things", key: IdempotencyKey("k"), lane: "https://example.org"
    )
    if !keyed { request.keyField = "" }
    request.scope = scope
    var facts = FrozenFacts(at: now, lifetime: 7 * .day)
    facts.flags = flags
    return FrozenRecord(request: request, facts: facts)
  }

  /// After a number of attempts that were answered with 503, the last of them on its way.
  static func sent(
    _ method: Method = .post, keyed: Bool = true, flags: FrozenFacts.Flags = [], attempts: UInt32 = 1,
    at now: ClockMoment = .at(1)
  ) -> FrozenRecord {
    var record = sample(method, keyed: keyed, flags: flags)
    record.meet(.launched(epoch: 1), at: now)
    record.facts.attempts = attempts
    if attempts > 1 { record.facts.flags.remove(.isFirstSendOpen) }
    return record
  }

  @discardableResult
  mutating func meet(
    _ event: FrozenEvent, at now: ClockMoment = .at(1), policy: FrozenPolicy = .standard,
    random: Double = 0.5
  ) -> FrozenAction { handle(event, at: now, policy: policy, random: random) }
}

// A borrowed view cannot stand in an expectation.
extension FrozenRecord {
  static func decoded(_ bytes: [UInt8], at now: ClockMoment) -> FrozenRecord? {
    FrozenRecord(decoding: bytes.rawBytes, at: now)
  }
}

extension FrozenOutcome {
  static func decoded(_ bytes: [UInt8]) -> FrozenOutcome? { FrozenOutcome(decoding: bytes.rawBytes) }
}

extension DeadLetter {
  static func decoded(_ bytes: [UInt8], at now: ClockMoment) -> DeadLetter? {
    DeadLetter(decoding: bytes.rawBytes, at: now)
  }
}
