/// The outcome of a frozen request, as it is kept until a caller has taken it.
struct FrozenOutcome: Sendable, Hashable {
  /// Longer ones are cut after the last field that fits. 16 KiB.
  static let headerBytesMax = 16 << 10
  /// Longer ones are left out. 64 KiB.
  static let bodyBytesMax = 64 << 10

  var status: Int
  var headers: Headers
  var body: [UInt8]
  /// The body was longer than what is kept.
  var isBodyCut: Bool
  var attempts: Int
  var method: Method
  var url: String
  var key: String
  var tag: String?
  var userInfo: [UInt8]
  var scope: String
  var doneWall: Microseconds

  /// Of a record whose answer came.
  init(_ record: FrozenRecord, headers: Headers, body: [UInt8], at now: ClockMoment) {
    status = Int(record.facts.lastStatus)
    self.headers = headers.kept(bytesMax: Self.headerBytesMax)
    isBodyCut = body.count > Self.bodyBytesMax
    self.body = isBodyCut ? [] : body
    attempts = Int(record.facts.attempts)
    method = record.request.method
    url = record.request.url
    key = record.request.key.text
    tag = record.request.tag
    userInfo = record.request.userInfo
    scope = record.request.scope
    doneWall = now.wall
  }
}

extension Headers {
  fileprivate func kept(bytesMax: Int) -> Headers {
    guard block.count > bytesMax else { return self }
    var kept = Headers()
    for field in self {
      guard kept.block.count + field.nameBytes.count + field.valueBytes.count + 4 <= bytesMax else { break }
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    return kept
  }
}

/// The bytes of an outcome. All numbers little-endian:
///
/// | offset | bytes | what                                                                          |
/// |--------|-------|-------------------------------------------------------------------------------|
/// | 0      | 1     | 0x01, the layout                                                              |
/// | 1      | 1     | 1: the body was cut                                                           |
/// | 2      | 2     | status                                                                        |
/// | 4      | 4     | attempts                                                                      |
/// | 8      | 8     | doneWall                                                                      |
/// | 16     |       | texts: header block, body, method, URL, key, user info, scope, and the tag if any |
extension FrozenOutcome {
  private static let layout: UInt8 = 0x01
  private static let prefixBytes = 16

  func encode() -> [UInt8] {
    var bytes: [UInt8] = [Self.layout, isBodyCut ? 1 : 0]
    bytes.append(integer: UInt16(clamping: status))
    bytes.append(integer: UInt32(clamping: attempts))
    bytes.append(integer: doneWall)
    bytes.append(text: headers.block)
    bytes.append(text: body)
    for text in [method.name, url, key] { bytes.append(text: text) }
    bytes.append(text: userInfo)
    bytes.append(text: scope)
    if let tag { bytes.append(text: tag) }
    return bytes
  }

  /// Nil for bytes that `encode` did not write.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount >= Self.prefixBytes, bytes.byte(at: 0) == Self.layout else { return nil }
    var texts = TextReader(bytes, from: Self.prefixBytes)
    guard let block = texts.next(), let headers = Headers(storedBlock: block.rawBytes, 0..<block.count),
      let body = texts.next(), let method = texts.nextString(), let url = texts.nextString(),
      let key = texts.nextString(), let userInfo = texts.next(), let scope = texts.nextString()
    else { return nil }
    tag = texts.isAtEnd ? nil : texts.nextString()
    guard texts.isAtEnd else { return nil }
    self.headers = headers
    self.body = body
    self.method = Method(method)
    self.url = url
    self.key = key
    self.userInfo = userInfo
    self.scope = scope
    isBodyCut = bytes.byte(at: 1) != 0
    status = Int(bytes.integer(at: 2, as: UInt16.self))
    attempts = Int(bytes.integer(at: 4, as: UInt32.self))
    doneWall = bytes.integer(at: 8)
  }
}

// The bytes of a dead letter: reason u8, 1 when the outcome is unknown u8, 1 when it halts its lane u8, 1 when its handlers
// have not returned yet u8, time of death in microseconds since 1970 i64, little-endian; then those of the record, which are missing when
// they were damaged.

/// A frozen request that will not be sent any more, with the reason.
struct DeadLetter: Sendable, Hashable {
  var cause: DeadLetterCause
  /// True if its lane waits until the dead letter is revived or discarded.
  var haltsLane: Bool
  /// True if its handlers have returned.
  var isDelivered = false
  var diedWall: Microseconds
  /// Nil when its bytes were not what was written.
  var record: FrozenRecord?

  init(_ cause: DeadLetterCause, haltsLane: Bool = false, diedWall: Microseconds, record: FrozenRecord?) {
    self.cause = cause
    self.haltsLane = haltsLane
    self.diedWall = diedWall
    self.record = record
  }

  private static let prefixBytes = 12

  func encode(at now: ClockMoment) -> [UInt8] {
    var bytes: [UInt8] = [
      cause.reason.rawValue, cause.isOutcomeUnknown ? 1 : 0, haltsLane ? 1 : 0, isDelivered ? 0 : 1,
    ]
    bytes.append(integer: diedWall)
    if let record { bytes += record.encode(at: now) }
    return bytes
  }

  init?(decoding bytes: RawSpan, at now: ClockMoment) {
    guard bytes.byteCount >= Self.prefixBytes,
      let reason = DeadLetterCause.Reason(rawValue: bytes.byte(at: 0))
    else { return nil }
    let cause = DeadLetterCause(reason, isOutcomeUnknown: bytes.byte(at: 1) != 0)
    let rest = bytes.extracting(Self.prefixBytes..<bytes.byteCount)
    let record = rest.isEmpty ? nil : FrozenRecord(decoding: rest, at: now)
    if !rest.isEmpty && record == nil { return nil }
    self.init(cause, haltsLane: bytes.byte(at: 2) != 0, diedWall: bytes.integer(at: 4), record: record)
    // Those of releases that did not tell are 0.
    isDelivered = bytes.byte(at: 3) == 0
  }

  var failure: NetworkError { cause.failure(record) }
}

/// Why a frozen request will not be sent any more.
struct DeadLetterCause: Sendable, Hashable {
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

  /// Nothing is known of it any more, nor of its attempts.
  static let lost = DeadLetterCause(.corrupt, isOutcomeUnknown: true)

  var isPoisoned: Bool { reason == .poisoned || reason == .crashed }

  /// What the caller is told; of a damaged record nothing more is known.
  func failure(_ record: FrozenRecord?) -> NetworkError {
    var failure = NetworkError(code, reason: detail(record), sendState: sendState(record))
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

  /// The last word on it was an answer, or nothing of it has left.
  private func sendState(_ record: FrozenRecord?) -> NetworkError.SendState {
    if isOutcomeUnknown { return .maybeProcessed }
    return record?.lastError == .status ? .answered : .notSent
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
