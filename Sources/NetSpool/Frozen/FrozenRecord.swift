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

  init(method: Method, url: String, key: IdempotencyKey, lane: String) {
    self.method = method
    self.url = url
    self.key = key
    self.lane = lane
  }

  /// Takes fields over, the values of secret ones left out.
  mutating func setHeaders(_ fields: Headers, isSecret: (String) -> Bool) {
    let secret = Set(fields.map(\.name).filter(isSecret))
    headers = fields
    for name in secret { headers.remove(name: name) }
    secretFields = secret.sorted()
  }

  var sendsKey: Bool { !keyField.isEmpty }
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
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for place in 0..<32 {
      switch place {
      case 8, 12, 16, 20: text.append(UInt8(ascii: "-"))
      default: break
      }
      let digit = UInt8((place < 16 ? high : low) >> (60 - 4 * (place % 16)) & 15)
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    self.text = String(decoding: text, as: UTF8.self)
  }

  init() {
    var random = SystemRandomNumberGenerator()
    self.init(using: &random)
  }

  /// The field's value: a string of Structured Fields, in quotes (RFC 9651 section 3.3.3).
  var wireValue: String {
    var value = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { value.append(UInt8(ascii: "\\")) }
      value.append(byte)
    }
    value.append(UInt8(ascii: "\""))
    return String(decoding: value, as: UTF8.self)
  }

  /// A Structured Field's string holds printable ASCII only.
  var isSendable: Bool {
    let bytes = text.utf8.span
    return (1...255).contains(bytes.count) && bytes.indices.allSatisfy { (0x20..<0x7F).contains(bytes[$0]) }
  }
}
