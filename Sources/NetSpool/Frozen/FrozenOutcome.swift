/// What came of a frozen request, as it is kept until somebody has taken it.
struct FrozenOutcome: Sendable, Hashable {
  /// Longer ones are cut after the last field that fits. 16 KiB.
  static let headerBytesMax = 16 << 10
  /// Longer ones are left out. 64 KiB.
  static let bodyBytesMax = 64 << 10

  var status: Int
  var headers: Headers
  var body: [UInt8]
  /// The body was longer than what is kept.
  var isBodyCut: Bool
  var attempts: Int
  var method: Method
  var url: String
  var key: String
  var tag: String?
  var userInfo: [UInt8]
  var scope: String
  var doneWall: Microseconds

  /// Of a record whose answer came.
  init(_ record: FrozenRecord, headers: Headers, body: [UInt8], at now: FrozenMoment) {
    status = Int(record.facts.lastStatus)
    self.headers = headers.kept(bytesMax: Self.headerBytesMax)
    isBodyCut = body.count > Self.bodyBytesMax
    self.body = isBodyCut ? [] : body
    attempts = Int(record.facts.attempts)
    method = record.request.method
    url = record.request.url
    key = record.request.key.text
    tag = record.request.tag
    userInfo = record.request.userInfo
    scope = record.request.scope
    doneWall = now.wall
  }
}

extension Headers {
  fileprivate func kept(bytesMax: Int) -> Headers {
    guard block.count > bytesMax else { return self }
    var kept = Headers()
    for field in self {
      guard kept.block.count + field.nameBytes.count + field.valueBytes.count + 4 <= bytesMax else { break }
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    return kept
  }
}

/// The bytes of an outcome. All numbers little-endian:
///
/// | offset | bytes | what                                                                          |
/// |--------|-------|-------------------------------------------------------------------------------|
/// | 0      | 1     | 0x01, the layout                                                              |
/// | 1      | 1     | 1: the body was cut                                                           |
/// | 2      | 2     | status                                                                        |
/// | 4      | 4     | attempts                                                                      |
/// | 8      | 8     | doneWall                                                                      |
/// | 16     |       | texts: header block, body, method, URL, key, user info, scope, and the tag if any |
extension FrozenOutcome {
  private static let layout: UInt8 = 0x01
  private static let prefixBytes = 16

  func encode() -> [UInt8] {
    var bytes: [UInt8] = [Self.layout, isBodyCut ? 1 : 0]
    bytes.append(integer: UInt16(clamping: status))
    bytes.append(integer: UInt32(clamping: attempts))
    bytes.append(integer: doneWall)
    bytes.append(text: headers.block)
    bytes.append(text: body)
    for text in [method.name, url, key] { bytes.append(text: text) }
    bytes.append(text: userInfo)
    bytes.append(text: scope)
    if let tag { bytes.append(text: tag) }
    return bytes
  }

  /// Nil for bytes that `encode` did not write.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount >= Self.prefixBytes, bytes.byte(at: 0) == Self.layout else { return nil }
    var texts = TextReader(bytes, from: Self.prefixBytes)
    guard let block = texts.next(), let headers = Headers(storedBlock: block.rawBytes, 0..<block.count),
      let body = texts.next(), let method = texts.nextString(), let url = texts.nextString(),
      let key = texts.nextString(), let userInfo = texts.next(), let scope = texts.nextString()
    else { return nil }
    tag = texts.isAtEnd ? nil : texts.nextString()
    guard texts.isAtEnd else { return nil }
    self.headers = headers
    self.body = body
    self.method = Method(method)
    self.url = url
    self.key = key
    self.userInfo = userInfo
    self.scope = scope
    isBodyCut = bytes.byte(at: 1) != 0
    status = Int(bytes.integer(at: 2, as: UInt16.self))
    attempts = Int(bytes.integer(at: 4, as: UInt32.self))
    doneWall = bytes.integer(at: 8)
  }
}
