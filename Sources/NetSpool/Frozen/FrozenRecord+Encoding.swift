/// The bytes of a frozen request. All numbers little-endian:
///
/// | offset | bytes | what                                                                     |
/// |--------|-------|--------------------------------------------------------------------------|
/// | 0      | 1     | 0x01, the layout                                                         |
/// | 1      | 1     | state                                                                    |
/// | 2      | 1     | flags                                                                    |
/// | 3      | 1     | 1 when there is a first send                                             |
/// | 4      | 4 × 4 | attempts, crashAttempts, offlineFailures, epoch                          |
/// | 20     | 2     | lastStatus                                                               |
/// | 22     | 2     | 0                                                                        |
/// | 24     | 6 × 8 | createdWall, lifetime, storedAge, firstSend's wall and age, notBeforeWall |
/// | 72     | 8     | bodyBytes                                                                |
/// | 80     |       | texts: method, URL, header block, secret names (by LF), key, key field,   |
/// |        |       | lane, tag, user info, scope, dedupe key, moment, last error              |
///
/// A text that may be missing begins with one byte, 1 when it is there. The moment is that of writing, in three numbers
/// of 8 bytes: wall clock, monotonic clock and boot; earlier releases left it empty, or had a digest of the body there.
/// The store's row carries the checksums, that of the body too.
extension FrozenRecord {
  static let layout: UInt8 = 0x01
  fileprivate static let prefixBytes = 80

  /// True if bytes that are whole were written by a later release.
  static func isLater(_ bytes: RawSpan) -> Bool { bytes.byteCount > 0 && bytes.byte(at: 0) > layout }

  func encode(at now: ClockMoment) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.prefixBytes + 512 + request.headers.block.count + request.userInfo.count)
    facts.append(to: &bytes, at: now)
    bytes.append(integer: Int64(request.bodyBytes))
    request.append(to: &bytes)
    bytes.append(text: now.bytes)
    bytes.append(text: lastError?.description ?? "")
    return bytes
  }

  /// Nil for bytes that `encode` did not write. `now`: of the process that reads.
  init?(decoding bytes: RawSpan, at now: ClockMoment) {
    guard let facts = FrozenFacts(decoding: bytes, at: now) else { return nil }
    var texts = TextReader(bytes, from: Self.prefixBytes)
    guard let request = FrozenRequest(&texts, bodyBytes: bytes.integer(at: 72, as: Int64.self)),
      let error = texts.nextString(), texts.isAtEnd
    else { return nil }
    self.init(
      request: request, facts: facts,
      lastError: NetworkError.Code.Word(rawValue: error).map { NetworkError.Code($0) })
  }
}

extension FrozenFacts {
  fileprivate func append(to bytes: inout [UInt8], at now: ClockMoment) {
    bytes.append(FrozenRecord.layout)
    bytes.append(state.rawValue)
    bytes.append(flags.rawValue)
    bytes.append(firstSend == nil ? 0 : 1)
    bytes.append(integer: attempts)
    bytes.append(integer: crashAttempts)
    bytes.append(integer: offlineFailures)
    bytes.append(integer: epoch)
    bytes.append(integer: UInt32(lastStatus))
    bytes.append(integer: createdWall)
    bytes.append(integer: lifetime)
    bytes.append(integer: age(at: now))
    bytes.append(integer: firstSend?.wall ?? 0)
    bytes.append(integer: firstSend?.age ?? 0)
    bytes.append(integer: notBeforeWall)
  }

  /// Without the texts: all that the lanes need, at a cost that a million of them can bear.
  init?(decoding bytes: RawSpan, at now: ClockMoment) {
    guard bytes.byteCount >= FrozenRecord.prefixBytes, bytes.byte(at: 0) == FrozenRecord.layout,
      let state = State(rawValue: bytes.byte(at: 1)),
      Flags(rawValue: bytes.byte(at: 2)).isSubset(of: .all)
    else { return nil }
    self.init(at: now, lifetime: bytes.integer(at: 32))
    self.state = state
    flags = Flags(rawValue: bytes.byte(at: 2))
    attempts = bytes.integer(at: 4)
    crashAttempts = bytes.integer(at: 8)
    offlineFailures = bytes.integer(at: 12)
    epoch = bytes.integer(at: 16)
    lastStatus = bytes.integer(at: 20)
    createdWall = bytes.integer(at: 24)
    storedAge = bytes.integer(at: 40)
    if bytes.byte(at: 3) != 0 { firstSend = Mark(wall: bytes.integer(at: 48), age: bytes.integer(at: 56)) }
    notBeforeWall = bytes.integer(at: 64)
    // So that no sum of times can overflow.
    let sane: Range<Microseconds> = -(1 << 58)..<(1 << 58)
    guard sane.contains(createdWall), sane.contains(lifetime), sane.contains(storedAge),
      sane.contains(firstSend?.wall ?? 0), sane.contains(firstSend?.age ?? 0), sane.contains(notBeforeWall)
    else { return nil }
    // Nor any count, and so that an attempt in flight can be taken back.
    guard max(attempts, crashAttempts, offlineFailures) < 1 << 31, state != .inFlight || attempts > 0
    else { return nil }
    resume(at: now, written: ClockMoment(writtenIn: bytes))
  }
}

extension ClockMoment {
  fileprivate static let storedBytes = 24
  /// Texts of a record before the moment.
  private static let textsBefore = 11

  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: wall)
    bytes.append(integer: monotonic)
    bytes.append(integer: boot)
    return bytes
  }

  /// When a record was written; nil when it does not say so.
  fileprivate init?(writtenIn record: RawSpan) {
    var texts = TextReader(record, from: FrozenRecord.prefixBytes)
    for _ in 0..<Self.textsBefore where texts.skip() == nil { return nil }
    guard let place = texts.skip(), place.count == Self.storedBytes else { return nil }
    self.init(
      wall: record.integer(at: place.lowerBound), monotonic: record.integer(at: place.lowerBound + 8),
      boot: record.integer(at: place.lowerBound + 16))
    let sane: Range<Microseconds> = 0..<(1 << 58)
    guard sane.contains(wall), sane.contains(monotonic) else { return nil }
  }
}

extension FrozenRequest {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(text: method.name)
    bytes.append(text: url)
    bytes.append(text: headers.block)
    bytes.append(text: secretFields.joined(separator: "\n"))
    bytes.append(text: key.text)
    bytes.append(text: keyField)
    bytes.append(text: lane)
    bytes.append(optionalText: tag)
    bytes.append(text: userInfo)
    bytes.append(text: scope)
    bytes.append(optionalText: dedupeKey)
  }

  fileprivate init?(_ texts: inout TextReader, bodyBytes: Int64) {
    guard bodyBytes >= 0, let method = texts.nextString(), let url = texts.nextString(),
      let block = texts.next(), let headers = Headers(storedBlock: block.rawBytes, 0..<block.count),
      let secret = texts.nextString(), let key = texts.nextString(), let keyField = texts.nextString(),
      let lane = texts.nextString(), let tag = texts.nextOptional(), let userInfo = texts.next(),
      let scope = texts.nextString(), let dedupeKey = texts.nextOptional(), texts.next() != nil
    else { return nil }
    self.init(method: Method(method), url: url, key: IdempotencyKey(key), lane: lane)
    self.headers = headers
    self.keyField = keyField
    self.tag = tag
    self.userInfo = userInfo
    self.scope = scope
    self.dedupeKey = dedupeKey
    self.bodyBytes = Int(bodyBytes)
    secretFields = secret.split(separator: "\n").map(String.init)
  }
}

extension [UInt8] {
  fileprivate mutating func append(optionalText text: String?) {
    append(text: text.map { [1] + $0.utf8 } ?? [0])
  }
}

extension TextReader {
  /// Nil: malformed; nil inside: missing.
  @_lifetime(self: copy self)
  fileprivate mutating func nextOptional() -> String?? {
    guard let text = next(), let first = text.first, first <= 1 else { return .none }
    return .some(first == 0 ? nil : String(decoding: text.dropFirst(), as: UTF8.self))
  }
}

/// Texts of records: each four bytes of length, little-endian, then its bytes.
extension [UInt8] {
  mutating func append(text: String) { append(text: text.utf8.span) }

  mutating func append(text: [UInt8]) { append(text: text.span) }

  private mutating func append(text: Span<UInt8>) {
    append(integer: UInt32(text.count))
    append(text)
  }
}

/// Takes texts out again, one behind the other; nil as soon as one would reach past the end.
struct TextReader: ~Escapable {
  private let bytes: RawSpan
  private var position: Int

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from position: Int) {
    self.bytes = bytes
    self.position = position
  }

  var isAtEnd: Bool { position == bytes.byteCount }

  @_lifetime(self: copy self)
  mutating func next() -> [UInt8]? { skip().map { [UInt8](bytes.extracting($0)) } }

  /// Says where the text stands, without taking it out.
  @_lifetime(self: copy self)
  mutating func skip() -> Range<Int>? {
    guard position + 4 <= bytes.byteCount else { return nil }
    let end = position + 4 + Int(bytes.integer(at: position, as: UInt32.self))
    guard end <= bytes.byteCount else { return nil }
    defer { position = end }
    return position + 4..<end
  }

  @_lifetime(self: copy self)
  mutating func nextString() -> String? { next().map { String(decoding: $0, as: UTF8.self) } }
}
