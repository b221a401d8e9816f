/// The one place that decides what a log line, an error or a curl command may show.
///
/// Secrets become `•••`: values of secret header fields, the userinfo of URLs, values of secret keys in
/// queries, forms and JSON. It errs towards hiding: `sort_key` is masked too. Bodies in other formats are
/// not searched.
struct Redaction: Sendable {
  static let mask = "•••"
  static let standard = Redaction()

  /// What is known of names of fields.
  let fields: FieldMeaning

  init(fields: FieldMeaning = .standard) { self.fields = fields }

  func isSecret(header name: String) -> Bool { fields.isSecret(name) }

  /// A field's value as it may be shown; URLs in it are masked like any other.
  func header(name: String, value: String) -> String {
    if isSecret(header: name) { return Self.mask }
    let holdsURL = Self.urlHeaders.contains(name.lowercased()) || Self.holdsScheme(value)
    return holdsURL ? url(value) : Self.printable(value)
  }

  /// What would be secret as a field's name, `code`, and every `X-Amz-…`: also as the last word of a name
  /// (`client_secret`, `user[password]`, `accessToken`).
  static func isSecret(key name: some Sequence<UInt8>) -> Bool {
    let bytes = Array(name)
    let lowercased = bytes.map(\.asciiLowercased)
    if lowercased.starts(with: "x-amz-".utf8) || lowercased.elementsEqual("code".utf8) { return true }
    return lowercased.elementsEqual("id_token_hint".utf8) || FieldMeaning.isSecret(lastWordOf: bytes)
  }

  /// Text that can neither break a log line nor steer a terminal: control characters (C0, DEL, C1) and
  /// those that turn the writing direction come out as `\n` or `\u{1B}`.
  static func printable(_ text: String) -> String {
    guard text.utf8.contains(where: { $0.isControl || $0 >= 0x80 }) else { return text }
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: output += "\\n"
      case 0x0D: output += "\\r"
      case 0x09: output += "\\t"
      case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069:
        output += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output
  }

  private static let urlHeaders: Set<String> = ["location", "content-location", "referer", "refresh", "link"]

  private static func holdsScheme(_ value: String) -> Bool {
    var rest = value.utf8[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      rest = rest[colon...].dropFirst()
      if rest.starts(with: "//".utf8) { return true }
    }
    return false
  }
}
