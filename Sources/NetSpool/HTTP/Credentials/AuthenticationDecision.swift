/// What a 401 leads to: a pure decision over the credential, what was sent and what the origin offers
/// (RFC 9110 section 11.6.1).
enum AuthenticationDecision: Sendable, Hashable {
  /// The credential was not accepted, or nothing that is offered fits it: the 401 is the end.
  case refused
  case basic
  case digest(DigestChallenge)
  /// The provider must be asked.
  case ask

  /// What the refused request carried.
  struct Sent: Sendable, Hashable {
    /// A Basic `Authorization`.
    var basic = false
    /// Answers given to challenges so far; the second is only for a nonce that went stale.
    var rounds = 0
    /// The provider has been asked for this operation.
    var asked = false

    init() {}

    /// Another place may put another challenge; the provider is still asked once.
    mutating func beginAnew() {
      basic = false
      rounds = 0
    }
  }

  static let roundsMax = 2

  static func make(
    _ scheme: NetworkCredentials.Scheme?, challenges: [AuthenticationChallenge], sent: Sent
  ) -> AuthenticationDecision {
    switch scheme {
    case nil, .bearer, .fields, .ntlm, .basic(_, _, preemptive: true): .refused
    case .provider: sent.asked ? .refused : .ask
    case .basic: basic(challenges, sent)
    case .digest: digest(challenges, sent) ?? .refused
    case .password: digest(challenges, sent) ?? basic(challenges, sent)
    }
  }

  private static func basic(_ challenges: [AuthenticationChallenge], _ sent: Sent) -> AuthenticationDecision {
    let isOffered = challenges.contains { $0.scheme == "basic" }
    return isOffered && !sent.basic && sent.rounds == 0 ? .basic : .refused
  }

  /// Nil: not offered. One answer; another only when the nonce was at fault.
  private static func digest(_ challenges: [AuthenticationChallenge], _ sent: Sent) -> AuthenticationDecision?
  {
    guard let challenge = DigestChallenge.first(in: challenges) else { return nil }
    guard sent.rounds == 0 || (sent.rounds < roundsMax && challenge.isStale) else { return .refused }
    return .digest(challenge)
  }
}
