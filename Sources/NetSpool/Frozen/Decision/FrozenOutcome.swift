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
