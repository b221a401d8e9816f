/// What a 401 leads to: another exchange with an answer to its challenge, a question to the provider, or the end.
extension EngineCore {
  /// Decided at the head, in the middle of libcurl's work; nil: the 401 is the answer.
  func challenged(_ operation: NetworkOperation, _ head: ResponseHead) -> Journey.Next? {
    let request = operation.request
    guard let credential = credential(of: operation, request), let scheme = credential.scheme,
      let origin = operation.loop.origin, !hasOwnAuthorization(operation, request)
    else { return nil }
    let journey = operation.makeJourney()
    journey.isRefused = true
    guard journey.keepsBody == false || request.prepared.canReplay else {
      return nil
    }
    let challenges = AuthenticationChallenge.all(in: head.headers)
    if case .provider(let provider) = scheme {
      return next(provider, challenges, journey, origin, request)
    }
    return next(scheme, credential.id, challenges, journey, origin, request)
  }

  private func hasOwnAuthorization(_ operation: NetworkOperation, _ request: NetworkRequest) -> Bool {
    (operation.loop.journey?.headers ?? request.headers).contains("Authorization")
      || operation.context.headers.contains("Authorization")
  }

  private func next(
    _ provider: CredentialProvider, _ challenges: [AuthenticationChallenge], _ journey: Journey,
    _ origin: Origin, _ request: NetworkRequest
  ) -> Journey.Next? {
    // What it gave may be of a kind that waits for a challenge.
    if let given = provider.held(for: origin.text).credential, let scheme = given.scheme,
      let next = next(scheme, given.id, challenges, journey, origin, request)
    {
      return next
    }
    guard !journey.sent.asked else { return nil }
    journey.sent.asked = true
    journey.isRefused = false
    return .ask(provider)
  }

  private func next(
    _ scheme: NetworkCredentials.Scheme, _ id: UInt64, _ challenges: [AuthenticationChallenge],
    _ journey: Journey,
    _ origin: Origin, _ request: NetworkRequest
  ) -> Journey.Next? {
    if case .basic = origin.answers[id] { journey.sent.basic = true }
    switch AuthenticationDecision.make(scheme, challenges: challenges, sent: journey.sent) {
    case .refused, .ask:
      origin.answers.remember(nil, for: id)
      return nil
    case .basic: origin.answers.remember(.basic, for: id)
    case .digest(let challenge):
      guard challenge.protection != .integrity || hasBodyAtHand(request, journey) else { return nil }
      origin.answers.remember(.digest(challenge, count: 0), for: id)
    }
    journey.sent.rounds += 1
    journey.isRefused = false
    return .authorized
  }

  /// A body that can be put into a digest: in memory, or none.
  private func hasBodyAtHand(_ request: NetworkRequest, _ journey: Journey) -> Bool {
    guard journey.keepsBody else { return true }
    switch request.prepared {
    case .none, .bytes: return true
    case .file, .multipart, .stream: return false
    }
  }

  /// The error that a refused credential ends with.
  func authenticationRefusal(_ operation: NetworkOperation, _ answer: NetworkResponse) -> NetworkError? {
    guard answer.source == .network else { return nil }
    if answer.head.status == 407, operation.context.usesProxy {
      var failure = NetworkError(
        .proxyFailed, reason: "authentication", underlying: .http(407), sendState: .answered)
      failure.response = answer
      return failure
    }
    guard answer.head.status == 401, let journey = operation.loop.journey,
      journey.isRefused
    else { return nil }
    return Self.authenticationFailure(rounds: journey.sent.rounds, answer)
  }

  private static func authenticationFailure(rounds: Int, _ answer: NetworkResponse) -> NetworkError {
    var failure = NetworkError(
      .authenticationFailed,
      reason: rounds > 0 ? "after \(rounds) of \(AuthenticationDecision.roundsMax) rounds" : nil,
      underlying: .http(answer.head.status), sendState: .answered)
    failure.response = answer
    return failure
  }

  // MARK: Providers

  /// A provider that has not answered after this is not waited for; 60 s.
  static let providerMillisecondsMax: UInt64 = 60_000

  func ask(_ provider: CredentialProvider, for operation: NetworkOperation, _ journey: Journey) {
    guard let origin = operation.loop.origin, let refusal = journey.refusal else { return }
    let (driver, id) = (driver, operation.id)
    asking[id] = operation
    for waiter in waiters(of: operation) { set(.queued, waiter) }
    journey.delay = timers.after(milliseconds: Self.providerMillisecondsMax) { [unowned self] in
      answered(id, .failure(NetworkError(.authenticationFailed, reason: "the provider took over 60 s")))
    }
    let question = NetworkCredentials.Refusal(url: journey.url, method: journey.method, response: refusal)
    provider.renew(journey.sentGeneration, for: origin.text, question) { result in
      driver.perform { $0.answered(id, result) }
    }
  }

  private func answered(_ id: UInt64, _ result: Result<CredentialProvider.Held, NetworkError>) {
    guard let operation = asking.removeValue(forKey: id), let journey = operation.loop.journey,
      let refusal = journey.refusal
    else { return }
    timers.cancel(journey.delay)
    journey.delay = nil
    journey.refusal = nil
    switch result {
    case .success(let held) where held.credential != nil: return delay(operation, journey, seconds: 0)
    case .success: endCarrier(operation, Self.authenticationFailure(rounds: 0, refusal))
    case .failure(var failure):
      failure.response = refusal
      endCarrier(operation, failure)
    }
  }
}
