/// Percent-encoding (RFC 3986 section 2.1) in the three dialects a request needs.
///
/// Each works on UTF-8 bytes and appends to a buffer: a URL with ten parameters is one growing array.
enum PercentCoding {
  /// `application/x-www-form-urlencoded` as browsers write it: a space is `+`, only letters, digits and
  /// `*-._` stay (WHATWG URL, section 5.2).
  static func appendForm(_ text: some StringProtocol, to output: inout [UInt8]) {
    for byte in text.utf8 {
      if byte == 0x20 {
        output.append(UInt8(ascii: "+"))
      } else if byte.isASCIIDigit || byte.isASCIILetter || "*-._".utf8.contains(byte) {
        output.append(byte)
      } else {
        appendEscape(byte, to: &output)
      }
    }
  }

  /// A name or value of a query: only unreserved bytes stay, a space is `%20`. That is read alike by
  /// servers that take `+` for a space and by those that do not.
  static func appendQuery(_ text: some StringProtocol, to output: inout [UInt8]) {
    append(text.utf8, to: &output) { !$0.isUnreserved }
  }

  /// A component of a path: nothing in it divides, ends or leaves the path.
  static func component(_ text: String) -> String { escaped(text.utf8) }

  /// Bytes as text, escaped unless they are unreserved, or as `isEscaped` says.
  static func escaped(
    _ bytes: some Sequence<UInt8>, where isEscaped: (UInt8) -> Bool = { !$0.isUnreserved }
  ) -> String {
    var output: [UInt8] = []
    append(bytes, to: &output, escaping: isEscaped)
    return String(decoding: output, as: UTF8.self)
  }

  static func append(
    _ bytes: some Sequence<UInt8>, to output: inout [UInt8], escaping isEscaped: (UInt8) -> Bool
  ) {
    for byte in bytes {
      if isEscaped(byte) { appendEscape(byte, to: &output) } else { output.append(byte) }
    }
  }

  /// A path as people write it: what may stand in a path stays, so do slashes and escapes that are
  /// already there; a `%` that starts no escape becomes `%25`. `?` and `#` are escaped.
  static func appendPath(_ text: some StringProtocol, to output: inout [UInt8]) {
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
      if isPathByte(byte) || escape(bytes, at: index) != nil {
        output.append(byte)
      } else {
        appendEscape(byte, to: &output)
      }
    }
  }

  /// Undoes escapes once; with `plusIsSpace` also `+`. A `%` that starts no escape stays.
  static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
    let bytes = Array(text)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if let byte = escape(bytes, at: index) {
        output.append(byte)
        index += 3
      } else {
        output.append(plusIsSpace && bytes[index] == UInt8(ascii: "+") ? 0x20 : bytes[index])
        index += 1
      }
    }
    return output
  }

  /// `%` and two upper-case hexadecimal digits.
  static func isEncodedDot(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.elementsEqual("%2e".utf8) || bytes.elementsEqual("%2E".utf8)
  }

  static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "%"))
    output.append(Hexadecimal.digit(byte >> 4))
    output.append(Hexadecimal.digit(byte & 0x0F))
  }

  /// The byte that the escape at `index` stands for; nil if none begins there.
  private static func escape(_ bytes: [UInt8], at index: Int) -> UInt8? {
    guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return nil }
    return Hexadecimal.byte(bytes[index + 1], bytes[index + 2])
  }

  /// `pchar` without the escape, and the slash (RFC 3986 section 3.3).
  private static func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"),
      UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
      UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
      true
    default: byte.isUnreserved
    }
  }
}
