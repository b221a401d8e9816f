/// A version 4 UUID (RFC 9562 section 5.4), chosen when a request is accepted and sent with every attempt.
package struct IdempotencyKey: Hashable, Sendable {
  /// The field that carries it unless the caller names another (draft-ietf-httpapi-idempotency-key-header).
  package static let fieldName = "Idempotency-Key"

  /// `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`, or what the caller chose.
  package let text: String

  /// A key of the caller's own.
  package init(_ text: String) { self.text = text }

  package init(using random: inout some RandomNumberGenerator) {
    let high = random.next() & ~0xF000 | 0x4000
    let low = random.next() & ~(0b11 << 62) | (0b10 << 62)
    let digits = Self.digits(high) + Self.digits(low)
    text = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }

  package init() {
    var random = SystemRandomNumberGenerator()
    self.init(using: &random)
  }

  /// The field's value: a string of Structured Fields, in quotes (RFC 9651 section 3.3.3).
  package var wireValue: String {
    let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
    return "\"" + String(escaped) + "\""
  }

  /// A Structured Field's string holds printable ASCII only.
  package var isSendable: Bool {
    !text.isEmpty && text.utf8.count <= 255 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  private static func digits(_ number: UInt64) -> [Character] {
    let text = String(number, radix: 16)
    return Array(String(repeating: "0", count: 16 - text.count) + text)
  }
}
