/// Checks on the Location field before any URL parser sees it.
enum LocationText {
  /// The text to resolve. Throws `badLocation` (empty, tooLong, control, encoding) and, since libcurl's
  /// parser cannot name the scheme of `javascript:x` and `data:,x`, already `redirectRefused(scheme)`.
  static func checked(_ value: ArraySlice<UInt8>, status: Int) throws(NetworkError) -> String {
    guard !value.isEmpty else { throw RedirectDecision.bad("empty", status) }
    guard value.count <= RedirectDecision.locationBytesMax else {
      throw RedirectDecision.bad("tooLong", status)
    }
    guard !value.contains(where: \.isControl), !holdsEncodedLineEnd(value) else {
      throw RedirectDecision.bad("control", status)
    }
    guard let text = String(validating: value, as: UTF8.self) else {
      throw RedirectDecision.bad("encoding", status)
    }
    if let scheme = scheme(of: value), scheme != "http", scheme != "https" {
      throw RedirectDecision.failure(.redirectRefused, "scheme", status)
    }
    return text
  }

  /// The scheme in lower case, if the reference names one (RFC 3986 section 4.1).
  static func scheme(of value: ArraySlice<UInt8>) -> String? {
    guard let colon = value.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = value[..<colon]
    guard let first = scheme.first, first.isASCIILetter, scheme.allSatisfy(isSchemeByte) else { return nil }
    return String(decoding: scheme.map(\.asciiLowercased), as: UTF8.self)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2B || byte == 0x2D || byte == 0x2E
  }

  /// `%00`, `%0a` or `%0d` before the query: an attempt to split lines in whoever decodes it. In a query
  /// they are ordinary, forms encode line ends so.
  private static func holdsEncodedLineEnd(_ value: ArraySlice<UInt8>) -> Bool {
    let path = value.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    for index in path.indices.dropLast(2) where path[index] == 0x25 && path[index + 1] == 0x30 {
      let low = path[index + 2].asciiLowercased
      if low == 0x30 || low == UInt8(ascii: "a") || low == UInt8(ascii: "d") { return true }
    }
    return false
  }
}
