/// The value of a request field in the form in which two are compared (RFC 9111 section 4.1): lines of one
/// name combined, blanks around commas dropped, case dropped where the field does not know it.
///
/// No order is changed: `en, de` and `de, en` are equal by the letter of RFC 9110 section 12.5.4, but the
/// same section knows that servers prefer the first.
enum SelectingValue {
  /// Nil if the field is absent.
  static func normalised(_ name: String, in request: Headers) -> [UInt8]? {
    let lines = request.allBytes(name)
    guard let first = lines.first else { return nil }
    if Redaction.standard.isSecret(header: name) { return secret(lines) }
    if singletons.contains(name), lines.count == 1 { return Array(first) }
    var value: [UInt8] = []
    for (index, line) in lines.enumerated() {
      if index > 0 { value.append(UInt8(ascii: ",")) }
      appendList(line, to: &value)
    }
    return caseless.contains(name) ? value.map(\.asciiLowercased) : value
  }

  private static func secret(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
    Array(Hexadecimal.text(ProcessSecret.hash(lines.map { Array($0) })).utf8)
  }

  /// Appends `line` without blanks at its ends and around commas, except inside quoted strings.
  private static func appendList(_ line: ArraySlice<UInt8>, to value: inout [UInt8]) {
    var isQuoted = false
    var isEscaped = false
    var start = value.count
    for byte in line {
      if !isQuoted, byte.isBlank, value.count == start { continue }
      if !isQuoted, byte == UInt8(ascii: ",") {
        dropBlanks(&value, downTo: start)
        value.append(byte)
        start = value.count
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
      value.append(byte)
    }
    if !isQuoted { dropBlanks(&value, downTo: start) }
  }

  private static func dropBlanks(_ value: inout [UInt8], downTo start: Int) {
    while value.count > start, value[value.count - 1].isBlank { value.removeLast() }
  }

  /// A comma in these is text.
  private static let singletons: Set<String> = [
    "user-agent", "referer", "origin", "host", "from", "date", "if-modified-since", "if-unmodified-since",
    "content-type", "x-forwarded-host",
  ]

  /// RFC 9110 sections 8.4.1, 8.5.1 and 12.5.2.
  private static let caseless: Set<String> = ["accept-encoding", "accept-language", "accept-charset"]
}
