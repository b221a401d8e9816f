/// Text inside a key, where NUL separates.
enum KeyText {
  /// `%` and NUL are percent-encoded, so two texts never come out the same.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "%") }) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0: bytes += "%00".utf8
      case UInt8(ascii: "%"): bytes += "%25".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
