// The bytes of a dead letter: reason u8, 1 when the outcome is unknown u8, 1 when it halts its lane u8, 1 when its handlers
// have not returned yet u8, time of death in microseconds since 1970 i64, little-endian; then those of the record, which are missing when
// they were damaged.

/// A frozen request that will not be sent any more, with the reason.
struct DeadLetter: Sendable, Hashable {
  var death: FrozenDeath
  /// Whether its lane waits until the dead letter is revived or discarded.
  var haltsLane: Bool
  /// Whether its handlers have returned.
  var isTold = false
  var diedWall: Microseconds
  /// Nil when its bytes were not what was written.
  var record: FrozenRecord?

  init(_ death: FrozenDeath, haltsLane: Bool = false, diedWall: Microseconds, record: FrozenRecord?) {
    self.death = death
    self.haltsLane = haltsLane
    self.diedWall = diedWall
    self.record = record
  }

  private static let prefixBytes = 12

  func encode(at now: FrozenMoment) -> [UInt8] {
    var bytes: [UInt8] = [
      death.reason.rawValue, death.isOutcomeUnknown ? 1 : 0, haltsLane ? 1 : 0, isTold ? 0 : 1,
    ]
    bytes.append(integer: diedWall)
    if let record { bytes += record.encode(at: now) }
    return bytes
  }

  init?(decoding bytes: RawSpan, at now: FrozenMoment) {
    guard bytes.byteCount >= Self.prefixBytes, let reason = FrozenDeath.Reason(rawValue: bytes.byte(at: 0))
    else { return nil }
    let death = FrozenDeath(reason, isOutcomeUnknown: bytes.byte(at: 1) != 0)
    let rest = bytes.extracting(Self.prefixBytes..<bytes.byteCount)
    let record = rest.isEmpty ? nil : FrozenRecord(decoding: rest, at: now)
    if !rest.isEmpty && record == nil { return nil }
    self.init(death, haltsLane: bytes.byte(at: 2) != 0, diedWall: bytes.integer(at: 4), record: record)
    // Those of releases that did not tell are 0.
    isTold = bytes.byte(at: 3) == 0
  }

  var failure: NetworkError { death.failure(record) }
}

/// Why a frozen request will not be sent any more.
struct FrozenDeath: Sendable, Hashable {
  enum Reason: UInt8, Sendable, Hashable, CaseIterable {
    case expired = 1
    case cancelled = 2
    /// The record's bytes are not what was written.
    case corrupt = 3
    /// The origin said no, or it can never be sent.
    case rejected = 4
    /// Too many attempts failed.
    case poisoned = 5
    /// Too many attempts took the process with them.
    case crashed = 6
    /// The origin may have acted on it, and sending it again could have its effect twice.
    case outcomeUnknown = 7
  }

  var reason: Reason
  /// The origin may have acted on it.
  var isOutcomeUnknown: Bool

  init(_ reason: Reason, isOutcomeUnknown: Bool = false) {
    self.reason = reason
    self.isOutcomeUnknown = isOutcomeUnknown || reason == .outcomeUnknown
  }

  var isPoisoned: Bool { reason == .poisoned || reason == .crashed }

  /// What the caller is told; of a damaged record nothing more is known.
  func failure(_ record: FrozenRecord?) -> NetworkError {
    var failure = NetworkError(code, reason: detail(record), sendState: sendState)
    failure.url = record?.request.url
    if let facts = record?.facts {
      failure.attempts = Int(facts.attempts)
      if facts.lastStatus != 0 { failure.underlying = .http(Int(facts.lastStatus)) }
    }
    return failure
  }

  private var code: NetworkError.Code {
    switch reason {
    case .expired: .frozenExpired
    case .cancelled: .cancelled
    case .corrupt: .storeCorrupt
    case .rejected: .frozenRejected
    case .poisoned, .crashed: .frozenPoisoned
    case .outcomeUnknown: .outcomeUnknown
    }
  }

  private var sendState: NetworkError.SendState {
    if isOutcomeUnknown { return .maybeProcessed }
    return reason == .rejected ? .answered : .notSent
  }

  private func detail(_ record: FrozenRecord?) -> String? {
    guard let record else { return nil }
    switch reason {
    case .rejected:
      return record.facts.lastStatus == 0 ? record.lastError?.description : "\(record.facts.lastStatus)"
    case .poisoned: return "attempts \(record.facts.attempts)"
    case .crashed: return "crashes \(record.facts.crashAttempts)"
    default: return record.lastError?.description
    }
  }
}
