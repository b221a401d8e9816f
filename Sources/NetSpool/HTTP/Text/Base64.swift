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
