/// What a 401 leads to: another exchange with an answer to its challenge, a question to the provider, or the end.
extension Authenticator {
  /// Decided at the head, in the middle of libcurl's work; nil: the 401 is the answer.
  func challenged(_ operation: NetworkOperation, _ head: ResponseHead) -> ExchangeState.Next? {
    let request = operation.request
    guard let credential = credential(of: operation, request), let scheme = credential.scheme,
      let origin = operation.loop.origin, !hasOwnAuthorization(operation, request)
    else { return nil }
    let exchangeState = operation.makeExchangeState()
    exchangeState.isRefused = true
    guard exchangeState.keepsBody == false || request.prepared.canReplay else {
      return nil
    }
    let challenges = AuthenticationChallenge.all(in: head.headers)
    if case .provider(let provider) = scheme {
      return next(provider, challenges, exchangeState, origin, request)
    }
    return next(scheme, credential.id, challenges, exchangeState, origin, request)
  }

  private func hasOwnAuthorization(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    (operation.loop.exchangeState?.headers ?? request.headers).contains("Authorization")
      || operation.engine.headers.contains("Authorization")
  }

  private func next(
    _ provider: CredentialProvider, _ challenges: [AuthenticationChallenge], _ exchangeState: ExchangeState,
    _ origin: Origin, _ request: NetworkRequest
  ) -> ExchangeState.Next? {
    // What it gave may be of a kind that waits for a challenge.
    if let given = provider.held(for: origin.text).credential, let scheme = given.scheme,
      let next = next(scheme, given.id, challenges, exchangeState, origin, request)
    {
      return next
    }
    guard !exchangeState.sent.asked else { return nil }
    exchangeState.sent.asked = true
    exchangeState.isRefused = false
    return .ask(provider)
  }

  private func next(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, _ challenges: [AuthenticationChallenge],
    _ exchangeState: ExchangeState,
    _ origin: Origin, _ request: NetworkRequest
  ) -> ExchangeState.Next? {
    switch AuthenticationDecision.make(scheme, challenges: challenges, sent: exchangeState.sent) {
    case .refused, .ask:
      origin.answers.remember(nil, for: id)
      return nil
    case .basic: origin.answers.remember(.basic, for: id)
    case .digest(let challenge):
      guard challenge.protection != .integrity || hasBodyAtHand(request, exchangeState) else { return nil }
      origin.answers.remember(.digest(challenge, count: 0), for: id)
    }
    exchangeState.sent.rounds += 1
    exchangeState.isRefused = false
    return .authorized
  }

  /// A body that can be put into a digest: in memory, or none.
  private func hasBodyAtHand(_ request: NetworkRequest, _ exchangeState: ExchangeState) -> Bool {
    guard exchangeState.keepsBody else { return true }
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
    guard answer.head.status == 401, let exchangeState = operation.loop.exchangeState,
      exchangeState.isRefused
    else { return nil }
    return Self.failure(rounds: exchangeState.sent.rounds, answer)
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
