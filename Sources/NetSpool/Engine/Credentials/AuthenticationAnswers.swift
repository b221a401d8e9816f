/// What one origin has told about how each credential is to be sent, so that only the first request of many is
/// refused.
struct AuthenticationAnswers {
  enum Answer {
    case basic
    /// The nonce has served so many requests.
    case digest(DigestChallenge, count: UInt32)
  }

  /// Credentials remembered; then the origin is asked anew. Per-request credentials may be many.
  private static let countMax = 64

  private var byCredential: [UInt64: Answer] = [:]

  subscript(_ credential: UInt64) -> Answer? { byCredential[credential] }

  mutating func remember(_ answer: Answer?, for credential: UInt64) {
    if byCredential.count >= Self.countMax, byCredential[credential] == nil { byCredential = [:] }
    byCredential[credential] = answer
  }

  /// The challenge to answer, with the number of this request.
  mutating func nextDigest(for credential: UInt64) -> (challenge: DigestChallenge, count: UInt32)? {
    guard case .digest(let challenge, let count) = byCredential[credential], count < .max else { return nil }
    byCredential[credential] = .digest(challenge, count: count + 1)
    return (challenge, count + 1)
  }
}
