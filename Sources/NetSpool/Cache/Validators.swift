/// ETag and Last-Modified: what a stored answer can be asked for again with, and recognised by (RFC 9110
/// section 8.8).
enum Validators {
  /// The ETag as it must be sent back, quotes and `W/` and all; nil if it is missing or would not survive
  /// in a list of tags.
  ///
  /// Tags without quotes are sent by many origins and are understood by them; they are kept as they are.
  static func entityTag(_ headers: Headers) -> ArraySlice<UInt8>? {
    usable(headers.firstBytes("etag"))
  }

  static func entityTag(_ fields: AnswerFields) -> ArraySlice<UInt8>? { usable(fields[.etag]) }

  private static func usable(_ tag: ArraySlice<UInt8>?) -> ArraySlice<UInt8>? {
    guard let value = tag, !value.isEmpty else { return nil }
    let opaque = opaqueTag(value)
    let isList = opaque.first != UInt8(ascii: "\"") && opaque.contains(UInt8(ascii: ","))
    return value.count == 1 && value.first == UInt8(ascii: "*") || isList ? nil : value
  }

  /// Seconds since 1970; nil if it is missing or no date.
  static func lastModified(_ headers: Headers) -> Int64? {
    headers.firstBytes("last-modified").flatMap { HTTPDate.parse($0) }
  }

  static func lastModified(_ fields: AnswerFields) -> Int64? {
    fields[.lastModified].flatMap { HTTPDate.parse($0) }
  }

  static func exist(_ fields: AnswerFields) -> Bool {
    entityTag(fields) != nil || lastModified(fields) != nil
  }

  /// The fields that make a GET conditional on the stored answer being outdated (RFC 9111 section 4.3.1):
  /// If-None-Match and If-Modified-Since, each if it can. The date is sent back to the letter.
  static func conditions(_ headers: Headers) -> Headers {
    let fields = AnswerFields(headers)
    var conditions = Headers()
    if let tag = entityTag(fields) {
      conditions.append(name: "If-None-Match".utf8, value: tag)
    }
    if lastModified(fields) != nil, let date = fields[.lastModified] {
      conditions.append(name: "If-Modified-Since".utf8, value: date)
    }
    return conditions
  }

  static func isWeak(_ tag: ArraySlice<UInt8>) -> Bool {
    tag.count >= 2 && tag[tag.startIndex] == UInt8(ascii: "W") && tag[tag.startIndex + 1] == UInt8(ascii: "/")
  }

  static func opaqueTag(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    isWeak(tag) ? tag.dropFirst(2) : tag
  }
}
