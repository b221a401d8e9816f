/// A frozen request: what is to be sent, and how far it has come. `handle` is its state machine.
struct FrozenRecord: Sendable, Hashable {
  let request: FrozenRequest
  var facts: FrozenFacts
  /// Why the last attempt failed.
  var lastError: NetworkError.Code?

  var state: FrozenFacts.State { facts.state }

  /// True if sending it again is safe, when an earlier attempt may have reached the origin: the method itself
  /// says so (RFC 9110 section 9.2.2), the caller does, or it carries a key that the origin still remembers.
  func isReplaySafe(at now: ClockMoment, policy: FrozenPolicy) -> Bool {
    if request.method.isIdempotent || facts.flags.contains(.atLeastOnce) { return true }
    guard request.sendsKey else { return false }
    guard let elapsed = facts.timeSinceFirstSend(at: now) else { return true }
    return elapsed < policy.idempotencyWindow
  }
}

/// The number of a frozen request: strictly increasing in the order of acceptance, never given twice.
struct FrozenID: Hashable, Comparable, Sendable, CustomStringConvertible {
  let number: UInt64

  init(_ number: UInt64) { self.number = number }

  static func < (left: FrozenID, right: FrozenID) -> Bool { left.number < right.number }

  var description: String { "#\(number)" }
}

/// The request to be sent, byte for byte the same at every attempt. The body is kept apart.
struct FrozenRequest: Sendable, Hashable {
  var method: Method
  var url: String
  /// Without the fields in `secretFields`.
  var headers = Headers()
  /// Names of fields whose values are never written to a disk: asked for again before each attempt.
  var secretFields: [String] = []
  var key: IdempotencyKey
  /// The name of the field that carries the key; empty: no key is sent.
  var keyField = IdempotencyKey.fieldName
  /// Requests of one lane are sent in order.
  var lane: String
  /// The tag of the handler that gets the outcome after a restart.
  var tag: String?
  /// The caller's own, `FrozenLimits.userInfoBytesMax` at most.
  var userInfo: [UInt8] = []
  /// The engine it belongs to.
  var scope = ""
  /// A second request with the same one is the first one.
  var dedupeKey: String?
  var bodyBytes = 0

  /// Takes fields over, the values of secret ones left out.
  mutating func setHeaders(_ fields: Headers, isSecret: (String) -> Bool) {
    let secret = Set(fields.map(\.name).filter(isSecret))
    headers = fields
    for name in secret { headers.remove(name: name) }
    secretFields = secret.sorted()
  }

  var sendsKey: Bool { !keyField.isEmpty }
}

/// A request that asks to be kept, with all that can be made of it before the store's thread has it.
struct FrozenDraft: Sendable {
  let request: FrozenRequest
  let facts: FrozenFacts
  /// Why it is not kept.
  let refusal: NetworkError?
  /// Of its record; nothing when it is refused.
  let payload: [UInt8]
  let body: [UInt8]

  init(
    _ request: FrozenRequest, body: [UInt8], options: FreezeOptions = FreezeOptions(), lifetime: Duration,
    limits: FrozenLimits = FrozenLimits(), at now: ClockMoment
  ) {
    var request = request
    request.bodyBytes = body.count
    var facts = FrozenFacts(at: now, lifetime: lifetime.microseconds)
    if !options.isOrdered { facts.flags.insert(.isUnordered) }
    if options.isAtLeastOnce { facts.flags.insert(.atLeastOnce) }
    refusal = limits.refusal(of: request)
    payload = refusal == nil ? FrozenRecord(request: request, facts: facts).encode(at: now) : []
    (self.request, self.facts, self.body) = (request, facts, body)
  }
}

/// A version 4 UUID (RFC 9562 section 5.4), chosen when a request is accepted and sent with every attempt.
struct IdempotencyKey: Hashable, Sendable {
  /// The field that carries it unless the caller names another (draft-ietf-httpapi-idempotency-key-header).
  static let fieldName = "Idempotency-Key"

  /// `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`, or what the caller chose.
  let text: String

  /// A key of the caller's own.
  init(_ text: String) { self.text = text }

  init(using random: inout some RandomNumberGenerator) {
    let high = random.next() & ~0xF000 | 0x4000
    let low = random.next() & ~(0b11 << 62) | (0b10 << 62)
    var digits: [UInt8] = []
    digits.reserveCapacity(36)
    for place in 0..<16 {
      if place == 4 || place == 6 || place == 8 || place == 10 { digits.append(UInt8(ascii: "-")) }
      let byte = (place < 8 ? high : low) >> UInt64(56 - 8 * (place & 7))
      Hexadecimal.append(UInt8(truncatingIfNeeded: byte), to: &digits)
    }
    text = String(decoding: digits, as: UTF8.self)
  }

  init() {
    var random = SystemRandomNumberGenerator()
    self.init(using: &random)
  }

  /// The field's value: a string of Structured Fields, in quotes (RFC 9651 section 3.3.3).
  var wireValue: String { String(decoding: text.utf8.quoted, as: UTF8.self) }

  /// A Structured Field's string holds printable ASCII only.
  var isSendable: Bool {
    let bytes = text.utf8.span
    return (1...255).contains(bytes.count) && bytes.indices.allSatisfy { (0x20..<0x7F).contains(bytes[$0]) }
  }
}

/// What changes in the life of a frozen request, and what its lane must know of it.
struct FrozenFacts: Sendable, Hashable {
  enum State: UInt8, Sendable, Hashable {
    /// Waits to be sent, perhaps for a moment that is still to come.
    case ready = 0
    /// An attempt was recorded; its bytes may be on their way.
    case inFlight = 1
    /// Nothing more will be sent, unless it is revived.
    case dead = 2
    /// The request has its outcome.
    case done = 3
  }

  struct Flags: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    /// The request's lane may send others at the same time.
    static let isUnordered = Flags(rawValue: 1)
    /// The caller wants it sent again even when that has its effect twice.
    static let atLeastOnce = Flags(rawValue: 2)
    /// `firstSend` was set by the attempt that is in flight.
    static let isFirstSendOpen = Flags(rawValue: 4)
    /// The origin said how long to wait, so the wait may be as long as `FrozenPolicy.retryAfterMax`.
    static let isWaitStated = Flags(rawValue: 8)
    /// A caller asked for one more attempt, whatever is known of earlier ones.
    static let isRevived = Flags(rawValue: 16)
    static let all: Flags = [.isUnordered, .atLeastOnce, .isFirstSendOpen, .isWaitStated, .isRevived]
  }

  /// A moment of which both clocks are remembered.
  struct Mark: Sendable, Hashable {
    var wall: Microseconds
    /// The record's own age then.
    var age: Microseconds
  }

  var state: State = .ready
  var flags: Flags = []
  /// Times that bytes may have left.
  var attempts: UInt32 = 0
  /// Times that the process went away meanwhile.
  var crashAttempts: UInt32 = 0
  /// Times in a row that nothing could be sent.
  var offlineFailures: UInt32 = 0
  /// The opening of the store to which the attempt in flight belongs.
  var epoch: UInt32 = 0
  var createdWall: Microseconds
  /// The time after `createdWall` at which the request expires.
  var lifetime: Microseconds
  /// When bytes may have left for the first time.
  var firstSend: Mark?
  /// Not before this moment of the wall clock; 0: any time.
  var notBeforeWall: Microseconds = 0
  /// The status of the last answer; 0 without one.
  var lastStatus: UInt16 = 0

  /// How old it was at `agedAt`.
  var storedAge: Microseconds = 0
  /// On this boot's clock. What is stored is the moment it was written, with the boot.
  var agedAt: Microseconds

  init(at now: ClockMoment, lifetime: Microseconds) {
    createdWall = now.wall
    agedAt = now.monotonic
    self.lifetime = lifetime
  }

  /// Its age, by a clock that does not go back and is never set: a wall clock that is set says nothing.
  func age(at now: ClockMoment) -> Microseconds {
    min(storedAge + max(0, now.monotonic - agedAt), Self.ageMax)
  }

  /// So that no sum of times can overflow: 4,500 years.
  private static let ageMax: Microseconds = 1 << 57

  /// Takes over what was read from the disk. `written`: the moment of that, as far as it is known.
  ///
  /// Within one boot the clock has gone on, whether or not anybody had the store open. Over a reboot there is only
  /// the wall clock's difference, which can add to the age and never take from it.
  mutating func resume(at now: ClockMoment, written: ClockMoment?) {
    if let written, written.isSameBoot(as: now), written.monotonic <= now.monotonic {
      agedAt = written.monotonic
      return
    }
    agedAt = now.monotonic
    if let written {
      storedAge = min(storedAge + max(0, now.wall - written.wall), Self.ageMax)
    } else {
      // Earlier releases counted only while the store was open, and left the rest to the wall clock.
      let sinceFirstSend = firstSend.map { min(max(storedAge - $0.age, now.wall - $0.wall, 0), Self.ageMax) }
      storedAge = min(max(storedAge, now.wall - createdWall), Self.ageMax)
      if let sinceFirstSend { firstSend?.age = storedAge - sinceFirstSend }
    }
  }

  func isExpired(at now: ClockMoment) -> Bool { age(at: now) > lifetime }

  /// How long until it expires, by this process's monotonic clock.
  func timeLeft(at now: ClockMoment) -> Microseconds { max(0, lifetime - age(at: now)) }

  /// Since bytes may have left for the first time; nil when none have.
  func timeSinceFirstSend(at now: ClockMoment) -> Microseconds? { firstSend.map { age(at: now) - $0.age } }

  /// The time that it still has to wait. A moment further ahead than any wait can be comes from a clock that was set
  /// since, and is pulled back.
  func wait(at now: ClockMoment, policy: FrozenPolicy) -> Microseconds {
    let longest = flags.contains(.isWaitStated) ? policy.retryAfterMax : policy.backoffMax
    return min(max(0, notBeforeWall - now.wall), longest)
  }

  /// Notes how old it is: done with every change, so that the store always knows.
  mutating func noteAge(at now: ClockMoment) {
    storedAge = age(at: now)
    agedAt = now.monotonic
  }
}
