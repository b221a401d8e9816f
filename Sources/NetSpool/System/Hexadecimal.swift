/// Hexadecimal digits, as in digests, escapes of URLs and stamps.
enum Hexadecimal {
  /// Two lower-case digits a byte.
  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes { append(byte, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// All digits of a number in lower case, with leading zeroes.
  static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
    let places = stride(from: number.bitWidth - 8, through: 0, by: -8)
    return text(places.map { UInt8(truncatingIfNeeded: number >> $0) })
  }

  /// The two digits of a byte, in lower case.
  static func append(_ byte: UInt8, to text: inout [UInt8]) {
    text.append(digit(byte >> 4) | 0x20)
    text.append(digit(byte & 15) | 0x20)
  }

  /// What a text of pairs of digits says; nil when it is none.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = byte(digits[index], digits[index + 1]) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// The digit of a value from 0 to 15, in upper case.
  @inline(__always)
  static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

  /// The value of a digit of either case; nil for any other byte.
  @inline(__always)
  static func value(_ digit: UInt8) -> UInt8? {
    if digit.isASCIIDigit { return digit - 0x30 }
    let letter = digit | 0x20
    return letter &- 0x61 < 6 ? letter - 0x57 : nil
  }

  /// The byte that two digits stand for.
  static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
    guard let high = value(high), let low = value(low) else { return nil }
    return high << 4 | low
  }
}

/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
enum Base64 {
  private static let alphabet = [UInt8](
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.underestimatedCount + 2) / 3 * 4)
    var group: UInt32 = 0
    var held = 0
    for byte in bytes {
      group = group << 8 | UInt32(byte)
      held += 1
      guard held == 3 else { continue }
      append(group, digits: 4, to: &text)
      (group, held) = (0, 0)
    }
    if held > 0 { append(group << UInt32(8 * (3 - held)), digits: held + 1, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the first `digits` of a 24-bit group's four, and `=` for the others.
  private static func append(_ group: UInt32, digits: Int, to text: inout [UInt8]) {
    for index in 0..<4 {
      let digit = Int(group >> UInt32(18 - 6 * index) & 0x3F)
      text.append(index < digits ? alphabet[digit] : UInt8(ascii: "="))
    }
  }
}
