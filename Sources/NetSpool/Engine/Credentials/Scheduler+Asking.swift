/// A provider of credentials is asked, and its answer awaited.
extension Scheduler {
  /// A provider that has not answered after this is not waited for; 60 s.
  static let providerMillisecondsMax: UInt64 = 60_000

  func ask(_ provider: CredentialProvider, for operation: NetworkOperation, _ history: ExchangeHistory) {
    loop.assertOnLoop()
    guard let origin = operation.loop.origin, let refusal = history.authentication.refusal else { return }
    let driver = driver
    history.authentication.askedAt = MonotonicClock.now
    let left = operation.secondsLeft(operation.request, nil)
    let isLast = left * 1000 < Double(Self.providerMillisecondsMax)
    let milliseconds = isLast ? UInt64(max(0, left * 1000)) : Self.providerMillisecondsMax
    let timer = timers.after(milliseconds: milliseconds) { [unowned self] in
      let late = NetworkError(.authenticationFailed, reason: "the provider took over 60 s")
      answered(operation, .failure(isLast ? NetworkError(.timedOut, cause: .total) : late))
    }
    move(operation, to: .asking(timer))
    let question = NetworkCredentials.Refusal(
      url: history.target.url, method: history.target.method, response: refusal)
    provider.renew(history.authentication.generation, for: origin.text, question) { result in
      driver.perform { $0.answered(operation, result) }
    }
  }

  private func answered(
    _ operation: NetworkOperation, _ result: Result<CredentialProvider.Held, NetworkError>
  ) {
    loop.assertOnLoop()
    guard case .asking = operation.loop.phase, let history = operation.loop.history,
      let refusal = history.authentication.refusal
    else { return }
    move(operation, to: .deciding)
    history.authentication.refusal = nil
    history.spent += MonotonicClock.now - history.authentication.askedAt
    switch result {
    case .success(let held) where held.credential != nil: return delay(operation, seconds: 0)
    case .success: publish(operation, Authenticator.failure(rounds: 0, refusal))
    case .failure(var failure):
      failure.response = refusal
      publish(operation, failure)
    }
  }
}
