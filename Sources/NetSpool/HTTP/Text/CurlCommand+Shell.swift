/// Words of POSIX sh.
enum ShellWord {
  /// Longest text put into one word, in bytes: Linux takes no argument above 128 KiB.
  static let bytesMax = 100_000

  /// The word as sh reads it back byte for byte. Newlines may stand between single quotes. A NUL, which no
  /// argument can hold, becomes U+FFFD.
  static func quote(_ text: String, always: Bool = false) -> String {
    if !always, !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    var word: [UInt8] = [UInt8(ascii: "'")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "'"): word += "'\\''".utf8
      case 0: word += "\u{FFFD}".utf8
      default: word.append(byte)
      }
    }
    word.append(UInt8(ascii: "'"))
    return String(decoding: word, as: UTF8.self)
  }

  /// A command that prints these bytes. `printf` is built into the shell and so has no argument limit.
  static func printing(_ bytes: [UInt8]) -> String {
    if let text = text(bytes) { return "printf %s \(quote(text, always: true))" }
    return "printf %s '\(Base64.encode(bytes))' | base64 -d"
  }

  /// The bytes as text, if they are UTF-8 and hold no control bytes but tabs and line ends: others would
  /// act on the terminal that shows them.
  static func text(_ bytes: [UInt8]) -> String? {
    let isText = bytes.allSatisfy { !$0.isControl || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    return isText ? String(validating: bytes, as: UTF8.self) : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-_./:,@+".utf8.contains(byte)
  }
}
