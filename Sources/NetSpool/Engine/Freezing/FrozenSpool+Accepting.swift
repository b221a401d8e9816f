// Accepting: nothing is promised before it is on the disk.

extension FrozenSpool {
  struct Acceptance: Sendable, Hashable {
    var id: FrozenID
    /// Nothing new was accepted: a request with the same dedupe key waits already.
    var isDuplicate: Bool
  }

  struct Accepting {
    let facts: FrozenFacts
    let lane: LaneKey
    let then: (Result<Acceptance, NetworkError>) -> Void
  }

  /// Accepts a request. `then` comes once it is on the disk, or with `queueFull`, `bodyTooLarge`, `invalidRequest`,
  /// `invalidURL`, `storageFull` or `storeFailed`, at once for what the limits refuse.
  func accept(
    _ request: FrozenRequest, body: [UInt8], options: FreezeOptions = FreezeOptions(), lifetime: Duration,
    then: @escaping (Result<Acceptance, NetworkError>) -> Void
  ) {
    var request = request
    request.bodyBytes = body.count
    if let failure = failure ?? limits.refusal(of: request) { return then(.failure(failure)) }
    let now = world.now()
    var facts = FrozenFacts(at: now, lifetime: lifetime.microseconds)
    if !options.isOrdered { facts.flags.insert(.isUnordered) }
    if options.isAtLeastOnce { facts.flags.insert(.atLeastOnce) }
    let lane = laneKey(request.lane)
    let payload = FrozenRecord(request, facts: facts).encode(at: now)
    let row = FrozenRow(
      lane: KeyDigest((lane.first, lane.second)), dedupeKey: request.dedupeKey.map { Array($0.utf8) },
      payload: payload)
    let token = token()
    accepting[token] = Accepting(facts: facts, lane: lane, then: then)
    submit(.accept(row, body: body), .acceptance(token: token))
  }

  /// Many come one behind the other for one lane, whose name needs no digest each time.
  private func laneKey(_ name: String) -> LaneKey {
    if let lastLane, lastLane.name == name { return lastLane.key }
    let key = LaneKey(name)
    lastLane = (name, key)
    return key
  }

  func didAccept(_ token: UInt64, _ result: Result<FrozenReceipt, NetworkError>) {
    guard let waiting = accepting.removeValue(forKey: token) else { return }
    switch result {
    case .failure(let failure):
      note(failure)
      waiting.then(.failure(failure))
    case .success(let receipt):
      let id = FrozenID(receipt.number)
      if !receipt.isDuplicate { add(id, waiting.facts, waiting.lane, world.now()) }
      waiting.then(.success(Acceptance(id: id, isDuplicate: receipt.isDuplicate)))
    }
  }

  func submit(_ change: FrozenChange, _ subject: FrozenNotice.Subject) {
    let post = world.post
    store.submit(change) { result in post(FrozenNotice(subject: subject, result: result)) }
  }

  /// A store that failed takes everything with it that was not recorded.
  func note(_ failure: NetworkError) {
    guard failure.code == .storeFailed, self.failure == nil else { return }
    self.failure = failure
    scheduler.isSuspended = true
    owner?.didFail(failure)
  }
}
