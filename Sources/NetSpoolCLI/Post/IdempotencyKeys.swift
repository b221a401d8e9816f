/// Keys for requests whose author gave none.
enum IdempotencyKeys {
  /// A random UUID (RFC 9562 section 5.4).
  static func random() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { HumanText.padded(String($0, radix: 16), to: 2, with: "0") }
    let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
    return groups.map { digits[$0].joined() }.joined(separator: "-")
  }
}
