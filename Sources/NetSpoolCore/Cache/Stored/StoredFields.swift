/// The response fields that are stored: all but those that belong to one connection or one exchange (RFC
/// 9111 section 3.1).
enum StoredFields {
  /// What is left of `headers` to serve later, with a Date that can be read (RFC 9110 section 6.6.1).
  ///
  /// Age is left out: it is said anew whenever the answer is served.
  static func make(
    _ headers: HeaderFields, directives: ResponseDirectives, receivedAt: Int64, rules: CacheRules
  ) -> HeaderFields {
    let dropped = droppedNames(headers, directives, rules)
    var kept = HeaderFields()
    kept.reserveCapacity(headers.block.count + 40)
    for field in headers where !isDropped(field, dropped) {
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    setDate(&kept, receivedAt: receivedAt)
    return kept
  }

  /// A Date that is missing or unreadable becomes the time of receipt.
  private static func setDate(_ headers: inout HeaderFields, receivedAt: Int64) {
    let received = InitialAge.seconds(receivedAt)
    if let date = headers.firstBytes("date"), HTTPDate.parse(date, now: received) != nil { return }
    headers.set(name: "Date", value: HTTPDate.format(received))
  }

  /// Names that this answer itself bars, in lower case: those in Connection, in `no-cache="…"` and, for a
  /// shared cache, in `private="…"`.
  private static func droppedNames(
    _ headers: HeaderFields, _ directives: ResponseDirectives, _ rules: CacheRules
  ) -> Set<String> {
    var names = Set(directives.noCacheFields)
    if rules.isShared { names.formUnion(directives.privateFields) }
    for line in headers.allBytes("connection") {
      names.formUnion(FieldNames.parse(line) ?? [])
    }
    return names
  }

  private static func isDropped(_ field: HeaderFields.Field, _ names: Set<String>) -> Bool {
    let name = String(decoding: field.nameBytes.map(\.asciiLowercased), as: UTF8.self)
    return always.contains(name) || names.contains(name)
  }

  /// Of the connection (RFC 9110 section 7.6.1), of a proxy, of the message's framing, or said anew.
  private static let always: Set<String> = [
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "age", "set-cookie",
    "set-cookie2",
  ]
}
