/// The bytes of a stored answer. All numbers little-endian:
///
/// | offset | bytes | what                          |
/// |--------|-------|-------------------------------|
/// | 0      | 1     | 0x02, the layout; 0x03: with the peer behind all |
/// | 1      | 1     | HTTP version                  |
/// | 2      | 2     | status                        |
/// | 4      | 4     | flags                         |
/// | 8      | 7 × 8 | requestedAt, receivedAt, lifetime, initialAge, staleWhileRevalidate, staleIfError, bodyBytes |
/// | 64     | 8     | fingerprint of the rules      |
/// | 72     | 5 × 4 | bytes of header block, a block that nothing reads any more, hidden block, tags, parts |
/// | 92     |       | these five                    |
///
/// Each tag ends with a NUL. Parts: the length of the whole body, then first position and end of each, 8 bytes each.
/// Peer: its port, 2 bytes, and the 4 or 16 of its address.
extension StoredResponse {
  static let mark: UInt8 = 0x02
  private static let markWithPeer: UInt8 = 0x03
  private static let prefixBytes = 92

  func encode() -> [UInt8] {
    var names: [UInt8] = []
    for tag in tags { names += Array(tag.utf8) + [0] }
    let texts: [[UInt8]] = [headers.block, [], hidden.block, names, parts?.encode() ?? []]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(texts.reduce(Self.prefixBytes) { $0 + $1.count })
    bytes.append(peer == nil ? Self.mark : Self.markWithPeer)
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
    bytes.append(integer: facts.rules)
    for text in texts { bytes.append(integer: UInt32(truncatingIfNeeded: text.count)) }
    for text in texts { bytes += text }
    if let peer {
      bytes.append(integer: UInt16(truncatingIfNeeded: peer.port))
      bytes += peer.bytes
    }
    return bytes
  }

  /// True if an encoded answer has a tag, without decoding it.
  static func hasTag(_ tag: [UInt8], in bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= prefixBytes, mark...markWithPeer ~= bytes.byte(at: 0) else { return false }
    var start = prefixBytes
    for offset in [72, 76, 80] { start += Int(bytes.integer(at: offset) as UInt32) }
    let end = start + Int(bytes.integer(at: 84) as UInt32)
    guard start < end, end <= bytes.byteCount else { return false }
    return [UInt8](bytes.extracting(start..<end)).split(separator: 0).contains { $0.elementsEqual(tag) }
  }

  /// True if the encoded answer came, or was confirmed last, by a time.
  static func isFrom(by time: Int64, _ bytes: RawSpan) -> Bool {
    bytes.byteCount >= prefixBytes && time >= bytes.integer(at: 16) as Int64
  }

  init?(decoding bytes: [UInt8], rules: CacheRules) {
    self.init(decoding: bytes.rawBytes, rules: rules)
  }

  /// Nil for bytes that `encode` did not write. If they were written under other rules, the lifetime is
  /// worked out anew.
  init?(decoding bytes: RawSpan, rules: CacheRules) {
    guard bytes.byteCount >= Self.prefixBytes, Self.mark...Self.markWithPeer ~= bytes.byte(at: 0),
      let version = ResponseHead.Version(rawValue: bytes.byte(at: 1)),
      var facts = ResponseFacts(decoding: bytes),
      let texts = Texts(bytes, from: Self.prefixBytes, hasPeer: bytes.byte(at: 0) == Self.markWithPeer)
    else { return nil }
    let status = Int(bytes.integer(at: 2) as UInt16)
    let receivedAt: Int64 = bytes.integer(at: 16)
    let bodyBytes: Int64 = bytes.integer(at: 56)
    guard CacheableStatus.isStorable(status) || (status == 206 && texts.rare?.parts != nil), bodyBytes >= 0
    else {
      return nil
    }
    if facts.rules != rules.fingerprint {
      facts.adapt(
        to: rules, status: status, headers: texts.headers + (texts.rare?.hidden ?? Headers()),
        receivedAt: receivedAt)
    }
    self.init(
      version: version, status: status, headers: texts.headers, requestedAt: bytes.integer(at: 8),
      receivedAt: receivedAt, facts: facts, bodyBytes: bodyBytes, rare: texts.rare)
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
    rules = bytes.integer(at: 64)
    let seconds = 0...DeltaSeconds.secondsMax
    guard flags.isSubset(of: .all), seconds.contains(lifetime), initialAge >= 0,
      seconds.contains(staleWhileRevalidate), seconds.contains(staleIfError)
    else { return nil }
  }

  fileprivate mutating func adapt(to rules: CacheRules, status: Int, headers: Headers, receivedAt: Int64) {
    let fields = AnswerFields(headers)
    setLifetime(
      status: status, fields: fields, directives: ResponseDirectives(fields),
      date: Self.date(fields, receivedAt: receivedAt), rules: rules)
  }
}

/// The texts behind the fixed part, which must fill the rest exactly.
private struct Texts {
  let headers: Headers
  /// Nil when there is none of it.
  let rare: StoredResponse.Rare?

  init?(_ bytes: RawSpan, from start: Int, hasPeer: Bool) {
    let headerEnd = start + Int(bytes.integer(at: 72) as UInt32)
    let hiddenStart = headerEnd + Int(bytes.integer(at: 76) as UInt32)
    let hiddenEnd = hiddenStart + Int(bytes.integer(at: 80) as UInt32)
    let tagsEnd = hiddenEnd + Int(bytes.integer(at: 84) as UInt32)
    let end = tagsEnd + Int(bytes.integer(at: 88) as UInt32)
    guard hasPeer ? end < bytes.byteCount : end == bytes.byteCount,
      let headers = Headers(storedBlock: bytes, start..<headerEnd)
    else { return nil }
    self.headers = headers
    guard hiddenStart < bytes.byteCount else {
      rare = nil
      return
    }
    guard let hidden = Headers(storedBlock: bytes, hiddenStart..<hiddenEnd),
      let tags = Self.tags([UInt8](bytes.extracting(hiddenEnd..<tagsEnd)))
    else { return nil }
    var rare = StoredResponse.Rare(hidden: hidden, tags: tags)
    if hasPeer {
      guard let peer = NetworkEngine.Egress.Address(decoding: bytes.extracting(end..<bytes.byteCount)) else {
        return nil
      }
      rare.peer = peer
    }
    if tagsEnd < end {
      guard let parts = StoredParts(decoding: bytes.extracting(tagsEnd..<end)) else { return nil }
      rare.parts = parts
    }
    self.rare = rare
  }

  private static func tags(_ bytes: [UInt8]) -> [String]? {
    if bytes.isEmpty { return [] }
    guard bytes.last == 0 else { return nil }
    var tags: [String] = []
    for name in bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false) {
      guard !name.isEmpty, let tag = String(validating: name, as: UTF8.self) else { return nil }
      tags.append(tag)
    }
    return tags
  }
}

extension NetworkEngine.Egress.Address {
  fileprivate init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > 2, let address = InternetAddress([UInt8](bytes.extracting(2..<bytes.byteCount)))
    else { return nil }
    self.init(internet: address, port: Int(bytes.integer(at: 0) as UInt16))
  }
}

extension StoredParts {
  fileprivate func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: total)
    for range in ranges {
      bytes.append(integer: range.lowerBound)
      bytes.append(integer: range.upperBound)
    }
    return bytes
  }

  fileprivate init?(decoding bytes: RawSpan) {
    guard bytes.byteCount >= 24, (bytes.byteCount - 8) % 16 == 0 else { return nil }
    var ranges: [Range<Int64>] = []
    for offset in stride(from: 8, to: bytes.byteCount, by: 16) {
      let (first, end): (Int64, Int64) = (bytes.integer(at: offset), bytes.integer(at: offset + 8))
      guard first < end else { return nil }
      ranges.append(first..<end)
    }
    self.init(total: bytes.integer(at: 0), ranges: ranges)
  }
}
