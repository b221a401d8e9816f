/// A request that waits on the disk, or is being sent.
public struct FrozenOperation: Sendable, Identifiable {
  /// Its number in the store.
  public let id: UInt64
  /// Its method.
  public let method: NetworkRequest.Method
  /// Its URL, as it is sent.
  public let url: String
  /// Its fields, without those whose values are never written down.
  public let headers: NetworkRequest.Headers
  /// Names of the fields whose values are asked for before each attempt.
  public let secretFields: [String]
  /// Bytes of its body.
  public let bodyBytes: Int
  /// The author's name for it.
  public let tag: String?
  /// The author's own.
  public let userInfo: [UInt8]
  /// Requests of one lane go one at a time, in the order in which they were accepted: its author's name for it, or the
  /// origin.
  public let lane: String
  /// Sent with every attempt.
  public let idempotencyKey: String
  private let keyField: String
  /// Times that it may have reached the origin.
  public let attempts: Int
  /// An attempt is under way.
  public let isBeingSent: Bool
  /// Seconds since 1970.
  public let createdAt: Double
  /// Seconds since 1970; nil: as soon as it is its turn.
  public let notBefore: Double?
  /// Seconds since 1970.
  public let expiresAt: Double
  /// Why the last attempt failed.
  public let lastError: NetworkError.Code?
  /// The status of the last answer.
  public let lastStatus: Int?

  init(_ id: FrozenID, _ record: FrozenRecord) {
    let (request, facts) = (record.request, record.facts)
    self.id = id.number
    method = (request.method)
    url = request.url
    headers = (request.headers)
    secretFields = request.secretFields
    bodyBytes = request.bodyBytes
    tag = request.tag
    userInfo = request.userInfo
    lane = String(request.lane.dropFirst(request.scope.count + 1))
    idempotencyKey = request.key.text
    keyField = request.keyField
    attempts = Int(facts.attempts)
    isBeingSent = facts.state == .inFlight
    createdAt = Double(facts.createdWall) / 1e6
    notBefore = facts.notBeforeWall > 0 ? Double(facts.notBeforeWall) / 1e6 : nil
    expiresAt = (Double(facts.createdWall) + Double(facts.lifetime)) / 1e6
    lastError = record.lastError
    lastStatus = facts.lastStatus > 0 ? Int(facts.lastStatus) : nil
  }
}

extension FrozenOperation {
  /// The URL for people, secrets masked.
  package var urlMasked: String { Redaction.standard.url(url) }
}

extension FrozenOperation {
  /// The request as a command for a shell, with its key, secrets masked; fields that are not written down are shown with
  /// a mask for a value. The body stays in the store: curl reads it from the standard input. See
  /// ``NetworkRequest/curlCommand``.
  public var curlCommand: String {
    var command = CurlCommand(method: method, url: url)
    command.headers = headers
    if !keyField.isEmpty {
      command.headers.append(name: keyField, value: IdempotencyKey(idempotencyKey).wireValue)
    }
    for name in secretFields { command.secretHeaders.append(name: name, value: Redaction.mask) }
    if bodyBytes > 0 { command.body = .file("/dev/stdin", contentType: headers.first("Content-Type") ?? "") }
    return command.text()
  }
}

extension FrozenOperation: CustomStringConvertible {
  /// Number, method and URL, secrets masked.
  public var description: String { "#\(id) \(method) \(urlMasked)" }
}
