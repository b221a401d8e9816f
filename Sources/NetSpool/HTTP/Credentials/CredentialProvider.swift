internal import Synchronization

/// Asks the caller's closure for credentials, once for all requests that were refused with the same ones.
///
/// What it gave is kept in memory, by origin, and goes with every further request until it is refused.
final class CredentialProvider: Sendable {
  typealias Ask = @Sendable (NetworkCredentials.Refusal) async throws -> NetworkCredentials?
  typealias Answer = @Sendable (Result<Held, NetworkError>) -> Void

  /// The credential given last, and how many times one was asked for.
  struct Held: Sendable {
    var credential: NetworkCredentials?
    var generation: UInt64 = 0
  }

  private struct Lookup {
    var held = Held()
    /// The closures that wait for the answer, and since when; nil when none has asked.
    var waiting: [(answer: Answer, since: Microseconds)]?
    var askedAt: Microseconds = 0
  }

  /// An answer that has not come by then is waited for no longer, and the next refusal asks again; 60 s.
  static let patience: Microseconds = 60_000_000

  let id: UInt64
  private let ask: Ask
  private let patience: Microseconds
  private let lookups = Mutex<[String: Lookup]>([:])
  private static let lastID = Atomic<UInt64>(0)

  init(patience: Microseconds = CredentialProvider.patience, _ ask: @escaping Ask) {
    self.patience = patience
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.ask = ask
  }

  func held(for origin: String) -> Held { lookups.withLock { $0[origin]?.held ?? Held() } }

  /// Any thread. Answers, perhaps at once and perhaps from another thread, with something newer than the
  /// generation that was refused, or with why there is none.
  func renew(
    _ refused: UInt64, for origin: String, _ question: NetworkCredentials.Refusal,
    then answer: @escaping Answer
  ) {
    enum Step { case newer(Held), ask, wait }
    let step: Step = lookups.withLock { lookups in
      if let held = lookups[origin]?.held, held.generation > refused { return .newer(held) }
      let now = MonotonicClock.now
      let isFirst = lookups[origin]?.waiting == nil
      let isLate = !isFirst && now - (lookups[origin]?.askedAt ?? 0) >= patience
      // In its place: thousands may wait, and a copy for each would be quadratic.
      if isFirst { lookups[origin, default: Lookup()].waiting = [] }
      if isLate { lookups[origin]?.waiting?.removeAll { now - $0.since >= patience } }
      if isFirst || isLate { lookups[origin]?.askedAt = now }
      lookups[origin]?.waiting?.append((answer, now))
      return isFirst || isLate ? .ask : .wait
    }
    switch step {
    case .newer(let held): answer(.success(held))
    case .wait: break
    case .ask: Task { await self.run(question, origin) }
    }
  }

  private func run(_ question: NetworkCredentials.Refusal, _ origin: String) async {
    let result: Result<NetworkCredentials?, NetworkError>
    do {
      let credential = try await ask(question)
      try credential?.check()
      result = .success(credential)
    } catch { result = .failure(Self.failure(error)) }
    let (waiting, answer) = lookups.withLock { lookups in
      var lookup = lookups[origin] ?? Lookup()
      defer { lookups[origin] = lookup }
      // A refusal to give any is remembered by nobody: the next 401 asks again.
      if case .success(let credential) = result, credential != nil {
        lookup.held = Held(credential: credential, generation: lookup.held.generation + 1)
      }
      let waiting = lookup.waiting ?? []
      lookup.waiting = nil
      return (waiting, result.map { Held(credential: $0, generation: lookup.held.generation) })
    }
    for each in waiting { each.answer(answer) }
  }

  /// The text of a stranger's error may hold a secret; its type does not.
  private static func failure(_ error: any Error) -> NetworkError {
    NetworkError(
      thrown: error, .authenticationFailed, cause: .provider, reason: "the provider threw \(type(of: error))",
      sendState: .answered)
  }
}

extension NetworkError.Cause {
  /// Of `authenticationFailed`: no credentials were refused but those before, as their provider failed.
  static let provider = Self("provider")
}
