/// What becomes of frozen requests, and who hears of it.
extension FrozenSender {
  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome) {
    let failure = lastFailures[id]
    guard let entry = leave(id) else {
      return offer(ThawedRequest(id: id, ending: .outcome(outcome), mayBeRepeated: false))
    }
    let answer = entry.answer ?? outcome.response
    tell(Ending(id: id), entry.operations, failure.map { .failure($0) } ?? .success(answer))
  }

  func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter) {
    guard let entry = leave(id) else {
      return offer(ThawedRequest(id: id, ending: .dead(letter), mayBeRepeated: false))
    }
    var failure = letter.failure
    failure.response = entry.answer
    tell(Ending(id: id, diedWall: letter.diedWall), entry.operations, .failure(failure))
  }

  /// Operations end, and when all their handlers have returned, the ending need not be kept any more.
  private func tell(_ ending: Ending, _ operations: [NetworkOperation], _ outcome: NetworkOperation.Outcome) {
    undelivered[ending] = operations.first?.engine
    let freezer = freezer
    let countdown = Countdown(operations.count) { freezer.dispatch { $0.didTell(ending) } }
    for operation in operations {
      operation.add(
        .ended {
          Failpoint.pass(.insideHandler)
          countdown.signal()
        })
      end(operation, outcome)
    }
  }

  func didPostpone(_ id: FrozenID, _ record: FrozenRecord) {
    release(id)
    let attempt = attempts.removeValue(forKey: id)
    let failure = lastFailures.removeValue(forKey: id)
    let answer = failure == nil ? waiting[id]?.answer : nil
    // What was only about to be sent, or was given back, is no attempt of which another follows.
    let isPutOff = attempt?.operation == nil || failure?.isPutOff == true
    for operation in waiting[id]?.operations ?? [] {
      operation.perform { $0.didAttempt(operation, isPutOff ? nil : record, failure, answer) }
    }
    guard let failure, failure.sendState == .notSent, failure.response == nil, let engine = attempt?.engine,
      !engine.isClosed
    else { return }
    didNotGetThrough(id, engine, record.request.url, failure)
  }

  func didNotLaunch(_ id: FrozenID) { release(id) }

  /// Hands over the operations that wait. Their requests are not lost: they are on the disk, and the next process decides what
  /// became of those under way.
  func didFail(_ failure: NetworkError) {
    for id in Array(waiting.keys) { handOver(id) { _ in true } }
    for id in Array(working.keys) { release(id) }
    (owed, attempts) = ([:], [:])
    for case let engine? in engines.map(\.engine) {
      engine.deliverLate { engine.configuration.onUnhandledFailure?(failure) }
    }
  }

  private func leave(_ id: FrozenID) -> Waiting? {
    release(id)
    forgetWays(of: id)
    attempts[id] = nil
    owed[id] = nil
    lastFailures[id] = nil
    askedAgain.remove(id)
    guard let entry = waiting.removeValue(forKey: id) else { return nil }
    for operation in entry.operations { places[operation.id] = nil }
    return entry
  }

  /// The operations of a request end as frozen: from now on it is the store's alone.
  func handOver(_ id: FrozenID, where matches: (NetworkOperation) -> Bool) {
    guard let entry = waiting[id] else { return }
    let leaving = entry.operations.filter(matches)
    guard !leaving.isEmpty else { return }
    waiting[id]?.operations.removeAll(where: matches)
    if waiting[id]?.operations.isEmpty == true { waiting[id] = nil }
    for operation in leaving {
      places[operation.id] = nil
      end(operation, .handedOver)
    }
    // It may have waited for the engine of one of these alone.
    spool.release(id)
  }

  /// Until the disk knows that it was told, it is not told again.
  private func didTell(_ ending: Ending) {
    let then = { [unowned self] in
      undelivered[ending] = nil
      if let first = unoffered, undelivered.count <= Self.offeredMax / 2 { offerOutcomes(from: first) }
    }
    if let diedWall = ending.diedWall {
      spool.acknowledgeLetter(ending.id, diedWall, then: then)
    } else {
      spool.acknowledge(ending.id, then: then)
    }
  }

  // MARK: Without an operation

  /// Offers the endings that no caller has taken, in the order in which the requests were accepted.
  func offerEndings(to engine: NetworkEngine) {
    guard engine.freezing?.hasHandlers == true else { return }
    offerOutcomes(from: FrozenID(0))
    // Of what the spool still has, the news is on its way.
    for id in spool.undelivered.sorted() where !spool.contains(id) {
      guard let letter = spool.letter(id) else { continue }
      offer(ThawedRequest(id: id, ending: .dead(letter), mayBeRepeated: true))
    }
  }

  /// Endings that are on their way to handlers when no more outcomes are read: each may have 80 KiB.
  private static let offeredMax = 256

  /// The others follow when half of these have been taken.
  private func offerOutcomes(from first: FrozenID) {
    unoffered = nil
    try? spool.store.forEachEnding(.outcomes, from: first.number) { number, ending in
      let id = FrozenID(number)
      guard undelivered.count < Self.offeredMax else {
        unoffered = id
        return false
      }
      if !spool.contains(id), undelivered[Ending(id: id)] == nil,
        let outcome = FrozenOutcome(decoding: ending.payload.rawBytes)
      {
        offer(ThawedRequest(id: id, ending: .outcome(outcome), mayBeRepeated: true))
      }
      return true
    }
  }

  private func offer(_ thawed: ThawedRequest) {
    let diedWall: Microseconds? = if case .dead(let letter) = thawed.ending { letter.diedWall } else { nil }
    let ending = Ending(id: thawed.id, diedWall: diedWall)
    guard undelivered[ending] == nil, let (engine, handlers) = listener(to: thawed) else { return }
    undelivered[ending] = engine
    let freezer = freezer
    engine.deliverLate {
      for handler in handlers { handler(thawed) }
      Failpoint.pass(.insideHandler)
      freezer.dispatch { $0.didTell(ending) }
    }
  }

  /// The newest engine of its scope that has handlers for its tag.
  private func listener(
    to thawed: ThawedRequest
  ) -> (engine: NetworkEngine, handlers: [EngineFreezing.ThawHandler])? {
    let (tag, scope) = thawed.labels
    for case let engine? in engines.reversed().map(\.engine) {
      guard let freezing = engine.freezing, scope.map(freezing.owns) ?? false else { continue }
      let handlers = freezing.handlers(for: tag)
      if !handlers.isEmpty { return (engine, handlers) }
    }
    return nil
  }

  // MARK: Leaving

  /// Engines that shut down, or whose queue ends, until nothing of them is on its way.
  struct Leaving {
    let isMeant: (NetworkEngine) -> Bool
    /// True if the handlers of endings that were told are waited for.
    let awaitsHandlers: Bool
    /// Then it is not waited for any longer, by the clock of the system.
    let lateAt: Microseconds
    let done: () -> Void
  }

  /// The engines take part no longer. What waits is handed over now, what is being sent when its attempt has ended, which
  /// they see to themselves; `done` follows, at the latest some seconds after the deadline.
  func leave(
    _ isMeant: @escaping (NetworkEngine) -> Bool, deadline: Duration, awaitsHandlers: Bool = true,
    _ done: @escaping () -> Void
  ) {
    let lateAt = MonotonicClock.now + deadline.microseconds + Self.patience
    leaving.append(Leaving(isMeant: isMeant, awaitsHandlers: awaitsHandlers, lateAt: lateAt, done: done))
  }

  private static let patience = 2 * Microseconds.second

  /// Returns the callbacks of engines that have left.
  func finishLeaving() -> [() -> Void] {
    guard !leaving.isEmpty else { return [] }
    let now = MonotonicClock.now
    var left: [() -> Void] = []
    leaving = leaving.filter { leaver in
      let isLate = leaver.lateAt <= now
      for id in Array(waiting.keys) where isLate || !spool.isMoving(id) {
        handOver(id) { leaver.isMeant($0.engine) }
      }
      if !isLate && isOnItsWay(leaver) { return true }
      for operation in accepting.values where leaver.isMeant(operation.engine) {
        accepting[operation.id] = nil
        end(operation, .failure(NetworkError(.engineClosed, sendState: .maybeProcessed)))
      }
      remove(where: leaver.isMeant)
      left.append(leaver.done)
      return false
    }
    return left
  }

  private func isOnItsWay(_ leaver: Leaving) -> Bool {
    attempts.values.contains { leaver.isMeant($0.engine) }
      || waiting.values.contains { $0.operations.contains { leaver.isMeant($0.engine) } }
      || accepting.values.contains { leaver.isMeant($0.engine) }
      || owed.values.contains { leaver.isMeant($0) }
      || leaver.awaitsHandlers && undelivered.values.contains { leaver.isMeant($0) }
  }
}

extension FrozenOutcome {
  /// What is kept of the answer.
  var response: NetworkResponse {
    NetworkResponse(
      head: ResponseHead(version: .http11, status: status, headers: headers), body: ResponseBytes(body),
      source: .network, finalURL: url, metrics: NetworkResponse.Metrics(), streams: [])
  }
}
