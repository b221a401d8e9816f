/// The response fields that are stored: all but those that belong to one connection or one exchange (RFC
/// 9111 section 3.1).
enum StoredFields {
  /// The fields of `headers` that are kept to serve later, with a Date that can be read (RFC 9110 section 6.6.1).
  ///
  /// Age is left out: it is said anew whenever the answer is served.
  static func make(
    _ fields: AnswerFields, _ directives: ResponseDirectives, isDated: Bool, receivedAt: Int64,
    rules: CacheRules
  ) -> Headers {
    let own = droppedNames(fields, directives, rules)
    var kept = fields.headers.dropping { bytes, name in
      isAlwaysDropped(bytes, name) || (!own.isEmpty && isDropped(bytes, name, own))
    }
    // A Date that is missing or unreadable becomes the time of receipt.
    if !isDated || own.contains("date") {
      kept.set("Date", HTTPDate.format(InitialAge.seconds(receivedAt)))
    }
    return kept
  }

  /// Names that this answer itself bars, in lower case: those in Connection, in `no-cache="…"` and, for a
  /// shared cache, in `private="…"`.
  private static func droppedNames(
    _ fields: AnswerFields, _ directives: ResponseDirectives, _ rules: CacheRules
  ) -> [String] {
    var names = directives.noCacheFields
    if rules.isShared { names += directives.privateFields }
    for line in fields.all(.connection) where !line.span.equals("keep-alive", in: 0..<line.count) {
      names += FieldNames.parse(line) ?? []
    }
    return names
  }

  private static func isDropped(_ bytes: Span<UInt8>, _ name: Range<Int>, _ names: [String]) -> Bool {
    names.contains { dropped in
      dropped.utf8.count == name.count && bytes.equals(dropped.utf8.span, at: name.lowerBound)
    }
  }

  /// Of the connection (RFC 9110 section 7.6.1), of a proxy, of the message's framing, or said anew. Asked for
  /// every field of every answer, so the first letter decides for nearly all.
  private static func isAlwaysDropped(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    switch bytes[name.lowerBound] | 0x20 {
    case UInt8(ascii: "a"): bytes.equals("age", in: name)
    case UInt8(ascii: "c"): bytes.equals("connection", in: name)
    case UInt8(ascii: "k"): bytes.equals("keep-alive", in: name)
    case UInt8(ascii: "p"):
      bytes.equals("proxy-connection", in: name) || bytes.equals("proxy-authenticate", in: name)
        || bytes.equals("proxy-authentication-info", in: name)
        || bytes.equals("proxy-authorization", in: name)
    case UInt8(ascii: "s"): bytes.equals("set-cookie", in: name) || bytes.equals("set-cookie2", in: name)
    case UInt8(ascii: "t"):
      bytes.equals("te", in: name) || bytes.equals("trailer", in: name)
        || bytes.equals("transfer-encoding", in: name)
    case UInt8(ascii: "u"): bytes.equals("upgrade", in: name)
    default: false
    }
  }
}
