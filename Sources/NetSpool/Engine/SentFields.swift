/// The header fields that a request will be sent with.
enum SentFields {
  /// - Parameter decodes: the engine asks for the codings that it can undo.
  static func make(defaults: Headers, own: Headers, decodes: Bool) -> Headers {
    var fields = own
    for field in defaults where !own.contains(field.name) {
      fields.append(name: field.nameBytes, value: field.valueBytes)
    }
    if decodes, !fields.contains("Accept-Encoding") {
      fields.append(name: "Accept-Encoding", value: ContentDecoder.acceptEncoding)
    }
    return fields
  }
}

/// The sender of a request, as far as the cache and `Vary` are concerned.
struct CacheSender: Sendable {
  private(set) var fields: Headers
  /// What tells its account from others; nil: it has none.
  let account: UInt64?

  /// An account that no field shows counts as an `Authorization` as well: the rules for such requests hold (RFC 9111
  /// section 3.5). The value says nothing.
  init(own: Headers, defaults: Headers, _ account: NetworkCredentials?, decodes: Bool) {
    self.account = account?.id
    fields = SentFields.make(defaults: defaults, own: own, decodes: decodes)
    if let account, !fields.contains("Authorization") {
      fields.append(name: "Authorization", value: "NetSpool \(account.id)")
    }
  }

  mutating func add(cookies digest: [UInt8]) {
    fields.append(name: "Cookie", value: "NetSpool \(Hexadecimal.text(digest))")
  }
}

/// Header fields as the lines that libcurl sends (CURLOPT_HTTPHEADER), each ended by NUL: the one place where a request's
/// fields are put together, and judged once more, wherever they came from. Bytes, as a value need not be UTF-8.
enum HeaderLines {
  typealias Line = [UInt8]

  /// For a request without fields and body of its own, nearly all in one: libcurl looks at every element of its list
  /// eight times per request, and copies each as it is.
  static func plain(_ defaults: Headers) throws(NetworkError) -> [Line] {
    try HeaderRules.check(sent: defaults)
    var lines: [ArraySlice<UInt8>] = []
    var own: [Line] = []
    for field in defaults {
      if isLibcurls(field.name) { own.append(line(field)) } else { lines.append(line(field).dropLast()) }
    }
    if !defaults.contains("Accept-Encoding") { lines.append(acceptEncoding.dropLast()) }
    return [Array(lines.joined(separator: "\r\n".utf8)) + [0]] + own
  }

  /// Fields that libcurl would send itself. It sees that they are there by the beginning of an element only, and would
  /// send a second one.
  private static func isLibcurls(_ name: String) -> Bool {
    [
      "host", "accept", "authorization", "connection", "content-type", "cookie", "expect", "range", "referer",
      "te", "upgrade",
    ].contains(name.lowercased())
  }

  /// A line for each, to go behind others.
  static func each(_ fields: Headers) throws(NetworkError) -> [Line] {
    if fields.count > 0 { try HeaderRules.check(sent: fields) }
    return fields.map(line)
  }

  private static let acceptEncoding = text("Accept-Encoding: " + ContentDecoder.acceptEncoding)

  static func make(
    defaults: Headers, own: Headers, decodes: Bool, hasBody: Bool, expects: Bool = true
  ) throws(NetworkError) -> [Line] {
    var lines: [Line] = []
    for field in defaults where !own.contains(field.name) { lines.append(line(field)) }
    var own = own
    if !expects { own.remove("Expect") }
    lines += try each(own)
    let asks = defaults.contains("Accept-Encoding") || own.contains("Accept-Encoding")
    if decodes, !asks { lines.append(acceptEncoding) }
    if hasBody, !own.contains("Content-Type"), !defaults.contains("Content-Type") {
      lines.append(omission("Content-Type"))  // libcurl takes every POST for a form
    }
    // libcurl asks by itself before long bodies and those of unknown length.
    if !expects { lines.append(omission("Expect")) }
    return lines
  }

  /// A name without a value removes the field that libcurl would add by itself.
  static func omission(_ name: String) -> Line { text(name + ":") }

  private static func text(_ text: String) -> Line { text.utf8 + [0] }

  /// A field without a value is written with a semicolon; with a colon libcurl would remove it.
  private static func line(_ field: Headers.Field) -> Line {
    guard !field.valueBytes.isEmpty else { return field.nameBytes + [UInt8(ascii: ";"), 0] }
    var line = Line()
    line.reserveCapacity(field.nameBytes.count + field.valueBytes.count + 3)
    line += field.nameBytes
    line += [UInt8(ascii: ":"), UInt8(ascii: " ")]
    line += field.valueBytes
    line.append(0)
    return line
  }
}
