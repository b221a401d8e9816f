/// The bytes of a stored answer. All numbers little-endian:
///
/// | offset | bytes | what                          |
/// |--------|-------|-------------------------------|
/// | 0      | 1     | 0x01, the layout              |
/// | 1      | 1     | HTTP version                  |
/// | 2      | 2     | status                        |
/// | 4      | 4     | flags                         |
/// | 8      | 8 × 8 | requestedAt, receivedAt, lifetime, initialAge, staleWhileRevalidate, staleIfError, bodyBytes, bodyDigest |
/// | 72     | 8     | fingerprint of the rules      |
/// | 80     | 3 × 4 | bytes of header block, variant block, final URL |
/// | 92     |       | these three                   |
extension StoredResponse {
  static let mark: UInt8 = 0x01
  private static let prefixBytes = 92

  func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      Self.prefixBytes + headers.block.count + variant.block.count + finalURL.utf8.count)
    bytes.append(Self.mark)
    bytes.append(version.rawValue)
    bytes.append(integer: UInt16(truncatingIfNeeded: status))
    bytes.append(integer: facts.flags.rawValue)
    bytes.append(integer: requestedAt)
    bytes.append(integer: receivedAt)
    bytes.append(integer: facts.lifetime)
    bytes.append(integer: facts.initialAge)
    bytes.append(integer: facts.staleWhileRevalidate)
    bytes.append(integer: facts.staleIfError)
    bytes.append(integer: bodyBytes)
    bytes.append(integer: bodyDigest)
    bytes.append(integer: facts.rules)
    bytes.append(integer: UInt32(truncatingIfNeeded: headers.block.count))
    bytes.append(integer: UInt32(truncatingIfNeeded: variant.block.count))
    bytes.append(integer: UInt32(truncatingIfNeeded: finalURL.utf8.count))
    bytes += headers.block
    bytes += variant.block
    bytes += finalURL.utf8
    return bytes
  }

  init?(decoding bytes: [UInt8], rules: CacheRules) {
    self.init(decoding: bytes.rawBytes, rules: rules)
  }

  /// Nil for bytes that `encode` did not write. If they were written under other rules, the lifetime is
  /// worked out anew.
  init?(decoding bytes: RawSpan, rules: CacheRules) {
    guard bytes.byteCount >= Self.prefixBytes, bytes.byte(at: 0) == Self.mark,
      let version = ResponseHead.Version(rawValue: bytes.byte(at: 1)),
      var facts = ResponseFacts(decoding: bytes), let texts = Texts(bytes, from: Self.prefixBytes)
    else { return nil }
    let status = Int(bytes.integer(at: 2) as UInt16)
    let receivedAt: Int64 = bytes.integer(at: 16)
    let bodyBytes: Int64 = bytes.integer(at: 56)
    guard CacheableStatus.isStorable(status), bodyBytes >= 0 else { return nil }
    if facts.rules != rules.fingerprint {
      facts.adapt(to: rules, status: status, headers: texts.headers, receivedAt: receivedAt)
    }
    self.init(
      version: version, status: status, headers: texts.headers, requestedAt: bytes.integer(at: 8),
      receivedAt: receivedAt, facts: facts, finalURL: texts.finalURL, variant: texts.variant,
      bodyDigest: bytes.integer(at: 64), bodyBytes: bodyBytes)
  }
}

extension ResponseFacts {
  fileprivate init?(decoding bytes: RawSpan) {
    self.init()
    flags = Flags(rawValue: bytes.integer(at: 4))
    lifetime = bytes.integer(at: 24)
    initialAge = bytes.integer(at: 32)
    staleWhileRevalidate = bytes.integer(at: 40)
    staleIfError = bytes.integer(at: 48)
    rules = bytes.integer(at: 72)
    let seconds = 0...DeltaSeconds.secondsMax
    guard flags.isSubset(of: .all), seconds.contains(lifetime), initialAge >= 0,
      seconds.contains(staleWhileRevalidate), seconds.contains(staleIfError)
    else { return nil }
  }

  fileprivate mutating func adapt(
    to rules: CacheRules, status: Int, headers: Headers, receivedAt: Int64
  ) {
    let fields = AnswerFields(headers)
    setLifetime(
      status: status, fields: fields, directives: ResponseDirectives(fields),
      date: Self.date(fields, receivedAt: receivedAt), rules: rules)
  }
}

/// The three texts behind the fixed part, which must fill the rest exactly.
private struct Texts {
  let headers: Headers
  let variant: Headers
  let finalURL: String

  init?(_ bytes: RawSpan, from start: Int) {
    let headerEnd = start + Int(bytes.integer(at: 80) as UInt32)
    let variantEnd = headerEnd + Int(bytes.integer(at: 84) as UInt32)
    let end = variantEnd + Int(bytes.integer(at: 88) as UInt32)
    guard end == bytes.byteCount, let headers = Headers(storedBlock: bytes, start..<headerEnd),
      let variant = Headers(storedBlock: bytes, headerEnd..<variantEnd)
    else { return nil }
    self.headers = headers
    self.variant = variant
    finalURL =
      variantEnd == end ? "" : String(decoding: [UInt8](bytes.extracting(variantEnd..<end)), as: UTF8.self)
  }
}
