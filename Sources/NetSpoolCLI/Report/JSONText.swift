/// Builds one JSON object as bytes (RFC 8259).
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  static func object(_ fields: (inout JSONText) -> Void) -> [UInt8] {
    var json = JSONText()
    json.element(nil, fields)
    return json.bytes
  }

  private mutating func enclose(_ marks: (Unicode.Scalar, Unicode.Scalar), _ body: (inout JSONText) -> Void) {
    bytes.append(UInt8(ascii: marks.0))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: marks.1))
    needsComma = true
  }

  /// What stands inside of an array, or alone: a text, or the object that a closure writes.
  mutating func element(_ text: String? = nil, _ fields: (inout JSONText) -> Void = { _ in }) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    if let text { return append(quoted: text) }
    enclose(("{", "}"), fields)
  }

  mutating func object(_ name: String, _ fields: (inout JSONText) -> Void) {
    key(name)
    enclose(("{", "}"), fields)
  }

  mutating func array(_ name: String, _ elements: (inout JSONText) -> Void) {
    key(name)
    enclose(("[", "]"), elements)
  }

  mutating func key(_ name: String) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    append(quoted: name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = true
  }

  mutating func field(_ name: String, _ value: String) {
    key(name)
    append(quoted: value)
  }

  mutating func field(_ name: String, raw value: [UInt8]) {
    key(name)
    bytes += value
  }

  static func quoted(_ text: String) -> [UInt8] {
    var json = JSONText()
    json.append(quoted: text)
    return json.bytes
  }

  mutating func field(_ name: String, _ value: some BinaryInteger) {
    key(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  /// `1500` as `1.5`.
  mutating func field(_ name: String, thousandths value: Int64) {
    key(name)
    bytes.append(contentsOf: String(value / 1_000).utf8)
    var digits = HumanText.padded(Int(abs(value % 1_000)), to: 3, with: "0")
    while digits.hasSuffix("0") { digits.removeLast() }
    if !digits.isEmpty { bytes.append(contentsOf: ".\(digits)".utf8) }
  }

  mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Left out when nil: a reader then finds no key, which every tool can tell from an empty value.
  mutating func field(_ name: String, _ value: String?) { if let value { field(name, value) } }
  mutating func field(_ name: String, _ value: Int?) { if let value { field(name, value) } }

  private mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    // C1 and the marks of directions are three bytes at most, of which these are the first.
    if text.utf8.contains(where: { $0 == 0xC2 || $0 == 0xE2 }) {
      for scalar in text.unicodeScalars { append(escaping: scalar) }
    } else {
      for byte in text.utf8 { append(escaping: byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(escaping scalar: Unicode.Scalar) {
    if scalar.value < 0x80 || !HumanText.isHarmful(scalar) {
      for byte in String(Character(scalar)).utf8 { append(escaping: byte) }
    } else {
      bytes.append(contentsOf: "\\u".utf8)
      for shift in [12, 8, 4, 0] { bytes.append(Self.hexDigits[Int(scalar.value >> shift & 15)]) }
    }
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0..<0x20, 0x7F:
      bytes.append(contentsOf: "\\u00".utf8)
      bytes.append(contentsOf: [Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)]])
    default: bytes.append(byte)
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}
