/// What became of a frozen request whose operation ended with an earlier process, or with its engine.
public struct ThawedOutcome: Sendable {
  /// The number on its ticket.
  public let id: UInt64
  /// The author's name for it.
  public let tag: String?
  /// The author's own.
  public let userInfo: [UInt8]
  /// Its method.
  public let method: NetworkRequest.Method
  /// Its URL.
  public let url: String
  /// Sent with every attempt.
  public let idempotencyKey: String
  /// Times that it may have reached the origin.
  public let attempts: Int
  /// The answer (of its body the first 64 KiB, or nothing when it was longer; of its fields 16 KiB), or why it became
  /// a dead letter.
  public let result: Result<NetworkResponse, NetworkError>
  /// The body of the answer was longer than what is kept.
  public let isBodyCut: Bool
  /// It may have been delivered before, to a process that ended while its handler ran.
  public let mayBeRepeated: Bool

  /// The URL for people, secrets masked.
  package var urlMasked: String { Redaction.standard.url(url) }

  init(_ thawed: ThawedRequest) {
    id = thawed.id.number
    mayBeRepeated = thawed.mayBeRepeated
    switch thawed.ending {
    case .outcome(let outcome):
      (tag, userInfo, idempotencyKey) = (outcome.tag, outcome.userInfo, outcome.key)
      (method, url, attempts) = ((outcome.method), outcome.url, outcome.attempts)
      isBodyCut = outcome.isBodyCut
      result = .success(outcome.response)
    case .dead(let letter):
      let request = letter.record?.request
      (tag, userInfo, idempotencyKey) = (request?.tag, request?.userInfo ?? [], request?.key.text ?? "")
      (method, url) = ((request?.method ?? .post), request?.url ?? "")
      attempts = Int(letter.record?.facts.attempts ?? 0)
      isBodyCut = false
      result = .failure(letter.failure)
    }
  }
}
