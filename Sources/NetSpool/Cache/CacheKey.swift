/// The full keys of entries: bytes that name a resource, or one of its variants, and nothing else.
///
/// Primary: `1` scope NUL `GET` NUL URL, and for each request field that may change where a request ends up
/// NUL name `:` value; then, for a request that names the codings itself and so gets bytes as they were
/// coded, NUL `accept-encoding:` and what it names. With a key of the caller's own, `KEY` and that text stand
/// in place of `GET` and URL. Variant: the primary key, NUL NUL, generation (8 bytes), then per name: name
/// NUL, 0x01 and value or 0x00 if it was absent, NUL. Parts: the primary key, NUL NUL `pieces`; each piece:
/// the primary key, NUL NUL `piece` and its number (8 bytes). What was made of an answer: its key, NUL NUL
/// `derived` and a name.
enum CacheKey {
  /// The key at which a resource's answer or variant index stands. `headers`: what is sent.
  static func primary(scope: AnswerScope, url: URLPieces, headers: Headers) -> [UInt8] {
    let (origin, target) = (url.origin.text, url.pathAndQuery)
    return primary(
      prefix: prefix(scope: scope), origin: origin.utf8.span, target: target.utf8.span, headers: headers
    ).key
  }

  /// The same from the scope's prefix, and the bytes of a canonical origin, and of path and query; and which of its bytes
  /// name the resource. `codings`: those that the request names itself.
  static func primary(
    prefix: [UInt8], origin: Span<UInt8>, target: Span<UInt8>, headers: Headers, codings: [UInt8]? = nil
  ) -> (key: [UInt8], resource: Range<Int>) {
    var key: [UInt8] = []
    key.reserveCapacity(prefix.count + origin.count + target.count)
    key += prefix
    key.append(origin)
    NormalisedPath.append(target, to: &key)
    let resource = prefix.count..<key.count
    appendRouting(headers, to: &key)
    appendCodings(codings, to: &key)
    return (key, resource)
  }

  /// The key for text of the caller's own, and which of its bytes that is.
  static func primary(
    scope: AnswerScope, custom: String, codings: [UInt8]? = nil
  ) -> (key: [UInt8], resource: Range<Int>) {
    var key = Array("1\(scope.text)\u{0}KEY\u{0}".utf8)
    let start = key.count
    key += KeyText.escaped(custom).utf8
    let resource = start..<key.count
    appendCodings(codings, to: &key)
    return (key, resource)
  }

  /// Without scope, fields and codings: what tells one resource from all others.
  static func resource(_ url: URLPieces) -> [UInt8] {
    var text = Array(url.origin.text.utf8)
    NormalisedPath.append(url.pathAndQuery.utf8.span, to: &text)
    return text
  }

  private static func appendCodings(_ codings: [UInt8]?, to key: inout [UInt8]) {
    guard let codings else { return }
    key.append(0)
    key += "accept-encoding:".utf8
    key += codings
  }

  /// Where the table of the parts of a resource's body stands, as long as not all of it is there.
  static func parts(of primary: [UInt8]) -> [UInt8] { primary + [0, 0] + Array("pieces".utf8) }

  /// Where a piece of them stands (`PartTable`).
  static func piece(_ number: UInt64, of primary: [UInt8]) -> [UInt8] {
    var key = primary + [0, 0] + Array("piece".utf8)
    key.append(integer: number)
    return key
  }

  /// Where that stands which was made of the answer or variant with this key, under a name of its maker's.
  static func derived(_ name: String, of key: [UInt8]) -> [UInt8] {
    key + [0, 0] + Array("derived \(KeyText.escaped(name))".utf8)
  }

  /// What every primary key by URL in this scope begins with.
  static func prefix(scope: AnswerScope) -> [UInt8] { Array("1\(scope.text)\u{0}GET\u{0}".utf8) }

  /// The key of one variant, by the names in one list of the index. `headers`: what is sent.
  static func variant(
    _ index: VariantIndex, list: Int = 0, of primary: [UInt8], headers: Headers,
    _ meaning: FieldMeaning = .standard
  ) -> [UInt8] {
    var key = primary
    key += [0, 0]
    key.append(integer: index.generation)
    for name in index.lists[list].names {
      key += name.utf8
      key.append(0)
      let value = SelectingValue.normalised(name, in: headers, meaning)
      key.append(value == nil ? 0 : 1)
      key += value ?? []
      key.append(0)
    }
    return key
  }

  /// Fields that a front end may route by: with one of them the same URL may be another resource, and
  /// leaving it out of the key lets one request poison another's answer.
  private static func appendRouting(_ headers: Headers, to key: inout [UInt8]) {
    guard RequestFieldScan.mayRoute(headers) else { return }
    for name in routingNames {
      for value in headers.allBytes(name) {
        key.append(0)
        key += name.utf8
        key.append(UInt8(ascii: ":"))
        key += value
      }
    }
  }

  private static let routingNames = [
    "forwarded", "host", "x-forwarded-host", "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-proto",
    "x-forwarded-scheme", "x-forwarded-server", "x-host", "x-original-host", "x-original-url",
    "x-rewrite-url",
  ]
}

/// Finding keys by the URL in them, whatever scope and fields they are for.
extension CacheKey {
  /// True if a key made by `primary(scope:url:headers:)`, or derived from one, is about a URL that begins so. Never true for a
  /// key of the caller's own.
  static func concerns(prefix: [UInt8], in key: RawSpan) -> Bool {
    guard let scopeEnd = key.octets.firstIndex(of: 0), key.extracting(scopeEnd...).begins(with: methodMark)
    else { return false }
    return key.extracting((scopeEnd + methodMark.count)...).begins(with: prefix)
  }

  /// What ends the scope, the method, and its end.
  private static let methodMark: [UInt8] = [0] + Array("GET".utf8) + [0]
}

/// Text inside a key, where NUL separates.
enum KeyText {
  /// `%` and NUL are percent-encoded, so two texts never come out the same.
  static func escaped(_ text: String) -> String {
    PercentCoding.escaped(text.utf8) { $0 == 0 || $0 == UInt8(ascii: "%") }
  }
}
