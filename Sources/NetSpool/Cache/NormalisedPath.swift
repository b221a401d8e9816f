/// Path and query in the form in which two URLs are compared (RFC 3986 section 6.2.2): escapes in upper
/// case, unreserved bytes not escaped, dot segments removed from the path. Nothing else: doubled slashes,
/// order and empty parts of a query are the server's business, and so is all of a text in which a `%` starts no
/// escape: `%%32e` must not become `%2e`, which is a dot.
enum NormalisedPath {
  static func append(_ pathAndQuery: Span<UInt8>, to output: inout [UInt8]) {
    let start = output.count
    let escapes = escapes(in: pathAndQuery)
    if escapes == .broken || (escapes == .none && !mayHoldDots(pathAndQuery)) {
      output.append(pathAndQuery)
      return
    }
    if appendEscapes(pathAndQuery, to: &output) { removeDotSegments(&output, from: start) }
  }

  private enum Escapes { case none, whole, broken }

  private static func escapes(in bytes: Span<UInt8>) -> Escapes {
    var found = Escapes.none
    var start = 0
    while let mark = bytes.firstIndex(of: UInt8(ascii: "%"), from: start) {
      if escape(bytes, at: mark + 1) == nil { return .broken }
      found = .whole
      start = mark + 3
    }
    return found
  }

  /// A dot behind a slash, as in `/../`; in a query it means nothing.
  private static func mayHoldDots(_ bytes: Span<UInt8>) -> Bool {
    var start = 0
    while let dot = bytes.firstIndex(of: UInt8(ascii: "."), from: start) {
      if dot > 0, bytes[dot - 1] == UInt8(ascii: "/") { return true }
      start = dot + 1
    }
    return false
  }

  /// Appends with escapes normalised; true if the path may hold a dot segment.
  private static func appendEscapes(_ bytes: Span<UInt8>, to output: inout [UInt8]) -> Bool {
    var index = 0
    var mayHoldDots = false
    var isQuery = false
    while index < bytes.count {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%"), let value = escape(bytes, at: index) {
        if !value.isUnreserved {
          PercentCoding.appendEscape(value, to: &output)
          index += 2
          continue
        }
        byte = value
        index += 2
      }
      if byte == UInt8(ascii: "?") { isQuery = true }
      if byte == UInt8(ascii: "."), !isQuery, output.last == UInt8(ascii: "/") { mayHoldDots = true }
      output.append(byte)
    }
    return mayHoldDots
  }

  private static func escape(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
    index + 1 < bytes.count ? Hexadecimal.byte(bytes[index], bytes[index + 1]) : nil
  }

  /// RFC 3986 section 5.2.4, on the path that begins at `start`.
  private static func removeDotSegments(_ output: inout [UInt8], from start: Int) {
    let text = output[start...]
    let end = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
    let query = Array(text[end...])
    var kept: [ArraySlice<UInt8>] = []
    let segments = text[..<end].dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch Array(segment) {
      case [0x2E]: if isLast { kept.append([]) }
      case [0x2E, 0x2E]:
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append([]) }
      default: kept.append(segment)
      }
    }
    var path: [UInt8] = []
    for segment in kept { path += [UInt8(ascii: "/")] + segment }
    if path.isEmpty { path = [UInt8(ascii: "/")] }
    output.replaceSubrange(start..., with: path + query)
  }
}
