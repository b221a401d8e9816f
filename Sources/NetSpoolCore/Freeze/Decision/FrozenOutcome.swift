/// What came of a frozen request, as it is kept until somebody has taken it.
package struct FrozenOutcome: Sendable, Hashable {
  /// Longer ones are cut after the last field that fits. 16 KiB.
  package static let headerBytesMax = 16 << 10
  /// Longer ones are left out. 64 KiB.
  package static let bodyBytesMax = 64 << 10

  package var status: Int
  package var headers: HeaderFields
  package var body: [UInt8]
  /// The body was longer than what is kept.
  package var isBodyCut: Bool
  package var attempts: Int
  package var method: Method
  package var url: String
  package var key: String
  package var tag: String?
  package var userInfo: [UInt8]
  package var scope: String
  package var doneWall: Microseconds

  /// Of a record whose answer came.
  package init(_ record: FrozenRecord, headers: HeaderFields, body: [UInt8], at now: FrozenMoment) {
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

extension HeaderFields {
  fileprivate func kept(bytesMax: Int) -> HeaderFields {
    guard block.count > bytesMax else { return self }
    var kept = HeaderFields()
    for field in self {
      guard kept.block.count + field.nameBytes.count + field.valueBytes.count + 4 <= bytesMax else { break }
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    return kept
  }
}
