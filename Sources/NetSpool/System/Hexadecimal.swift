/// Hexadecimal digits, as in digests, escapes of URLs and stamps.
enum Hexadecimal {
  /// Two lower-case digits a byte.
  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digit(byte >> 4) | 0x20)
      text.append(digit(byte & 15) | 0x20)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// All digits of a number in lower case, with leading zeroes.
  static func text(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: number.bitWidth / 4 - digits.utf8.count) + digits
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
