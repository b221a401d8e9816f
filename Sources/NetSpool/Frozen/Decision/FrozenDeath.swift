/// Why a frozen request will not be sent any more.
struct FrozenDeath: Sendable, Hashable {
  enum Reason: UInt8, Sendable, Hashable, CaseIterable {
    case expired = 1
    case cancelled = 2
    /// Its bytes are not what was written.
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
    failure.url = record.map { Redaction.standard.url($0.request.url) }
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
