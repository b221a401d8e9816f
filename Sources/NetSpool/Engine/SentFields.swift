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

/// Who sends a request, as far as the cache and `Vary` are concerned.
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

/// Header fields as the lines that libcurl sends (CURLOPT_HTTPHEADER).
enum HeaderLines {
  /// For a request without fields and body of its own, nearly all in one: libcurl looks at every element of its list
  /// eight times per request, and copies each as it is.
  static func plain(_ defaults: Headers) -> [String] {
    var lines: [String] = []
    var own: [String] = []
    for field in defaults {
      if isLibcurls(field.name) { own.append(line(field)) } else { lines.append(line(field)) }
    }
    if !defaults.contains("Accept-Encoding") { lines.append(acceptEncoding) }
    return [lines.joined(separator: "\r\n")] + own
  }

  /// Fields that libcurl would send itself. It sees that they are there by the beginning of an element only, and would
  /// send a second one.
  private static func isLibcurls(_ name: String) -> Bool {
    [
      "host", "accept", "authorization", "connection", "content-type", "cookie", "expect", "range", "referer",
      "te",
      "upgrade",
    ].contains(name.lowercased())
  }

  /// One each, to go behind others.
  static func each(_ fields: Headers) -> [String] { fields.map(line) }

  private static let acceptEncoding = "Accept-Encoding: " + ContentDecoder.acceptEncoding

  static func make(
    defaults: Headers, own: Headers, decodes: Bool, hasBody: Bool, expects: Bool = true
  )
    -> [String]
  {
    var lines: [String] = []
    for field in defaults where !own.contains(field.name) { lines.append(line(field)) }
    for field in own where expects || !isExpect(field.name) { lines.append(line(field)) }
    if decodes, !defaults.contains("Accept-Encoding") { lines.append(acceptEncoding) }
    // A name without a value removes the field that libcurl would add by itself: it takes every POST for a form.
    if hasBody, !own.contains("Content-Type"), !defaults.contains("Content-Type") {
      lines.append("Content-Type:")
    }
    // libcurl asks by itself before long bodies and those of unknown length.
    if !expects { lines.append("Expect:") }
    return lines
  }

  private static func isExpect(_ name: String) -> Bool { name.lowercased() == "expect" }

  /// A field without a value is written with a semicolon; with a colon libcurl would remove it.
  private static func line(_ field: Headers.Field) -> String {
    guard !field.valueBytes.isEmpty else { return field.name + ";" }
    return String(
      decoding: field.nameBytes + [UInt8(ascii: ":"), UInt8(ascii: " ")] + field.valueBytes, as: UTF8.self)
  }
}
