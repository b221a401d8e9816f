/// What a 401 leads to: another exchange with an answer to its challenge, a question to the provider, or the end.
extension Authenticator {
  /// Decided at the head, in the middle of libcurl's work; nil: the 401 is the answer.
  func challenged(_ operation: NetworkOperation, _ head: ResponseHead) -> Exchange.Next? {
    let request = operation.request
    guard let credential = credential(of: operation, request), let scheme = credential.scheme,
      let origin = operation.loop.origin, !hasOwnAuthorization(operation, request)
    else { return nil }
    let history = operation.makeHistory()
    history.authentication.isRefused = true
    guard history.target.keepsBody == false || request.prepared.canReplay else {
      return nil
    }
    let challenges = AuthenticationChallenge.all(in: head.headers)
    if case .provider(let provider) = scheme {
      return next(provider, challenges, history, origin, request)
    }
    return next(scheme, credential.id, challenges, history, origin, request)
  }

  private func hasOwnAuthorization(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    (operation.loop.history?.target.headers ?? request.headers).contains("Authorization")
      || operation.engine.headers.contains("Authorization")
  }

  private func next(
    _ provider: CredentialProvider, _ challenges: [AuthenticationChallenge], _ history: ExchangeHistory,
    _ origin: Origin, _ request: NetworkRequest
  ) -> Exchange.Next? {
    // What it gave may be of a kind that waits for a challenge.
    if let given = provider.held(for: origin.text).credential, let scheme = given.scheme,
      let next = next(scheme, given.id, challenges, history, origin, request)
    {
      return next
    }
    guard !history.authentication.sent.asked else { return nil }
    history.authentication.sent.asked = true
    history.authentication.isRefused = false
    return .ask(provider)
  }

  private func next(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, _ challenges: [AuthenticationChallenge],
    _ history: ExchangeHistory,
    _ origin: Origin, _ request: NetworkRequest
  ) -> Exchange.Next? {
    if case .basic = origin.answers[id] { history.authentication.sent.basic = true }
    switch AuthenticationDecision.make(scheme, challenges: challenges, sent: history.authentication.sent) {
    case .refused, .ask:
      origin.answers.remember(nil, for: id)
      return nil
    case .basic: origin.answers.remember(.basic, for: id)
    case .digest(let challenge):
      guard challenge.protection != .integrity || hasBodyAtHand(request, history) else { return nil }
      origin.answers.remember(.digest(challenge, count: 0), for: id)
    }
    history.authentication.sent.rounds += 1
    history.authentication.isRefused = false
    return .authorized
  }

  /// A body that can be put into a digest: in memory, or none.
  private func hasBodyAtHand(_ request: NetworkRequest, _ history: ExchangeHistory) -> Bool {
    guard history.target.keepsBody else { return true }
    switch request.prepared {
    case .none, .bytes: return true
    case .file, .multipart, .stream: return false
    }
  }

  /// The error that a refused credential ends with.
  func refusal(_ operation: NetworkOperation, _ answer: NetworkResponse) -> NetworkError? {
    guard answer.source == .network else { return nil }
    if answer.head.status == 407, operation.engine.usesProxy {
      var failure = NetworkError(
        .proxyFailed, reason: "authentication", underlying: .http(407), sendState: .answered)
      failure.response = answer
      return failure
    }
    guard answer.head.status == 401, let history = operation.loop.history,
      history.authentication.isRefused
    else { return nil }
    return Self.failure(rounds: history.authentication.sent.rounds, answer)
  }

  static func failure(rounds: Int, _ answer: NetworkResponse) -> NetworkError {
    var failure = NetworkError(
      .authenticationFailed,
      reason: rounds > 0 ? "after \(rounds) of \(AuthenticationDecision.roundsMax) rounds" : nil,
      underlying: .http(answer.head.status), sendState: .answered)
    failure.response = answer
    return failure
  }
}
