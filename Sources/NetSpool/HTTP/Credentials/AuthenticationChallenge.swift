/// A challenge of a `WWW-Authenticate` field (RFC 9110 section 11.6.1).
struct AuthenticationChallenge: Sendable, Hashable {
  /// In lower case.
  var scheme: String
  /// `NTLM <token>`.
  var token: String?
  /// The parameters by name in lower case, as bytes, since some are sent back; the first of a name counts.
  var parameters: [String: [UInt8]] = [:]

  func text(_ name: String) -> String? { parameters[name].map { Headers.text($0) } }

  /// Challenges read of one answer; more are dropped.
  private static let countMax = 16

  /// All challenges of an answer, in order. What cannot be read ends its field; what came before it counts.
  static func all(in fields: Headers, named name: String = "WWW-Authenticate") -> [Self] {
    var challenges: [Self] = []
    for value in fields.allBytes(name) {
      var reader = ChallengeReader(value)
      while challenges.count < countMax, let challenge = reader.next() { challenges.append(challenge) }
    }
    return challenges
  }
}

/// Scheme names and parameters come in one list divided by commas: `a="b", Basic realm="c"` is told apart by the
/// `=` behind a name.
private struct ChallengeReader {
  private var rest: ArraySlice<UInt8>

  init(_ value: ArraySlice<UInt8>) { rest = value }

  mutating func next() -> AuthenticationChallenge? {
    skipCommas()
    guard let scheme = word() else { return nil }
    var challenge = AuthenticationChallenge(scheme: scheme.lowercased())
    if let token = token() {
      challenge.token = token
      return challenge
    }
    while let (name, value) = parameter() {
      let name = name.lowercased()
      if challenge.parameters[name] == nil { challenge.parameters[name] = value }
    }
    return challenge
  }

  private mutating func skipCommas() { rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") } }

  private mutating func word() -> String? {
    let word = rest.prefix(while: \.isTokenByte)
    guard !word.isEmpty else { return nil }
    rest = rest.dropFirst(word.count)
    return String(decoding: word, as: UTF8.self)
  }

  /// `token68`: up to a comma or the end, and not a parameter.
  private mutating func token() -> String? {
    let blanks = rest.prefix(while: \.isBlank).count
    let text = rest.dropFirst(blanks).prefix { !$0.isBlank && $0 != UInt8(ascii: ",") }
    let core = text.prefix { $0 != UInt8(ascii: "=") }
    let behind = rest.dropFirst(blanks + text.count).drop(while: \.isBlank)
    guard blanks > 0, !core.isEmpty, behind.isEmpty || behind.first == UInt8(ascii: ","),
      core.allSatisfy({ $0.isUnreserved || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }),
      text.dropFirst(core.count).allSatisfy({ $0 == UInt8(ascii: "=") })
    else { return nil }
    rest = behind
    return String(decoding: text, as: UTF8.self)
  }

  /// `name=value`; nil, and nothing is taken, when what follows is another scheme.
  private mutating func parameter() -> (String, [UInt8])? {
    let before = rest
    skipCommas()
    guard let name = word() else { return nil }
    rest = rest.drop(while: \.isBlank)
    guard rest.popFirst() == UInt8(ascii: "=") else {
      rest = before
      return nil
    }
    rest = rest.drop(while: \.isBlank)
    let value = rest.first == UInt8(ascii: "\"") ? rest.takeQuoted() : word().map { Array($0.utf8) }
    guard let value else {
      rest = []
      return nil
    }
    return (name, value)
  }
}

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
    case nil, .bearer, .aws, .fields, .ntlm, .basic(_, _, preemptive: true): .refused
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
