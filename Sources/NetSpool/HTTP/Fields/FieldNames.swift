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
    bytes[bytes.span.trimmed(0..<bytes.count).shifted(by: bytes.startIndex)]
  }
}

extension Range<Int> {
  fileprivate func shifted(by offset: Int) -> Range<Int> {
    (lowerBound + offset)..<(upperBound + offset)
  }
}
