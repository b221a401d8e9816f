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
