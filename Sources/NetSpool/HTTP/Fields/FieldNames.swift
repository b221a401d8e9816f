/// Lists of field names, as in Vary, Connection and `no-cache="…"` (RFC 9110 section 5.6.1).
enum FieldNames {
  /// Returns the names in lower case, empty elements left out; nil if an element is no token.
  static func parse(_ list: some Collection<UInt8>) -> [String]? {
    var names: [String] = []
    for element in list.split(separator: UInt8(ascii: ",")) {
      let name = trimmed(Array(element)[...])
      guard name.allSatisfy(\.isTokenByte) else { return nil }
      if !name.isEmpty { names.append(String(decoding: name.map(\.asciiLowercased), as: UTF8.self)) }
    }
    return names
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let range = bytes.span.trimmed(0..<bytes.count)
    return bytes.dropFirst(range.lowerBound).prefix(range.count)
  }
}

extension Sequence<UInt8> {
  /// A `quoted-string` of these bytes: quotes around them, a backslash before quotes and backslashes.
  var quoted: [UInt8] {
    var output = [UInt8(ascii: "\"")]
    for byte in self {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
      output.append(byte)
    }
    output.append(UInt8(ascii: "\""))
    return output
  }
}

extension ArraySlice<UInt8> {
  /// Takes away the `quoted-string` that it begins with (RFC 9110 section 5.6.4) and answers it without quotes and
  /// escapes. Nil, and nothing is taken, when it never ends.
  mutating func takeQuoted() -> [UInt8]? {
    var ahead = dropFirst()
    var value: [UInt8] = []
    while let byte = ahead.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        self = ahead
        return value
      case UInt8(ascii: "\\"): if let escaped = ahead.popFirst() { value.append(escaped) }
      default: value.append(byte)
      }
    }
    return nil
  }
}
