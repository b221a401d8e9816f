/// What becomes of frozen requests, and who hears of it.
extension FrozenDispatcher {
  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome) {
    guard let entry = leave(id) else {
      return offer(ThawedRequest(id: id, ending: .outcome(outcome), mayBeRepeated: false))
    }
    untold[id] = entry.operations.first?.engine
    let freezer = freezer
    let countdown = Countdown(entry.operations.count) { freezer.dispatch { $0.didTell(id) } }
    for operation in entry.operations {
      operation.add(
        .ended {
          Failpoint.pass(.insideHandler)
          countdown.signal()
        })
      end(operation, .success(entry.answer ?? outcome.response))
    }
  }

  func didBury(_ id: FrozenID, _ letter: DeadLetter) {
    guard let entry = leave(id) else {
      return offer(ThawedRequest(id: id, ending: .dead(letter), mayBeRepeated: false))
    }
    var failure = letter.failure
    failure.response = entry.answer
    for operation in entry.operations { end(operation, .failure(failure)) }
  }

  func didPostpone(_ id: FrozenID, _ record: FrozenRecord) {
    let engine = attempts.removeValue(forKey: id)?.engine
    for operation in waiting[id]?.operations ?? [] { on(operation) { $0.set(.frozen, $1) } }
    guard let failure = lastFailures.removeValue(forKey: id), failure.sendState == .notSent, let engine,
      engine.driver === core.driver, !engine.isClosedToNew
    else { return }
    awaitNetwork(id, record, engine, after: failure)
  }

  /// Those that wait are not lost: they are on the disk, and the next process decides what became of the ones under way.
  func didFail(_ failure: NetworkError) {
    for id in Array(waiting.keys) { handOver(id) { _ in true } }
    for case let engine? in engines.map(\.engine) {
      engine.deliverLate { engine.configuration.onUnhandledFailure?(failure) }
    }
  }

  private func leave(_ id: FrozenID) -> Waiting? {
    attempts[id] = nil
    lastFailures[id] = nil
    askedAgain.remove(id)
    waits.removeValue(forKey: id)?.callOff()
    guard let entry = waiting.removeValue(forKey: id) else { return nil }
    for operation in entry.operations { places[operation.id] = nil }
    return entry
  }

  /// The operations of a request end as frozen: from now on it is nobody's but the store's.
  func handOver(_ id: FrozenID, where matches: (NetworkOperation) -> Bool) {
    guard let entry = waiting[id] else { return }
    let leaving = entry.operations.filter(matches)
    guard !leaving.isEmpty else { return }
    waiting[id]?.operations.removeAll(where: matches)
    if waiting[id]?.operations.isEmpty == true { waiting[id] = nil }
    for operation in leaving {
      places[operation.id] = nil
      end(operation, .failure(NetworkError.handOver))
    }
  }

  private func didTell(_ id: FrozenID) {
    untold[id] = nil
    spool.acknowledge(id)
  }

  // MARK: Without an operation

  /// Those that nobody has taken, in the order in which they were accepted.
  func offerOutcomes(to engine: NetworkEngine) {
    guard engine.freezing?.hasHandlers == true, let outcomes = try? spool.outcomes() else { return }
    for (id, outcome) in outcomes where outcome.scope == engine.freezing?.settings.scope {
      offer(ThawedRequest(id: id, ending: .outcome(outcome), mayBeRepeated: true))
    }
  }

  private func offer(_ thawed: ThawedRequest) {
    let id = thawed.id
    guard untold[id] == nil, let (engine, handlers) = listener(to: thawed) else { return }
    untold[id] = engine
    let freezer = freezer
    engine.deliverLate {
      for handler in handlers { handler(thawed) }
      Failpoint.pass(.insideHandler)
      freezer.dispatch { $0.didTell(id) }
    }
  }

  /// The newest engine of its scope that has handlers for its tag.
  private func listener(
    to thawed: ThawedRequest
  ) -> (engine: NetworkEngine, handlers: [EngineFreezing.ThawHandler])? {
    for case let engine? in engines.reversed().map(\.engine) {
      guard let freezing = engine.freezing, freezing.settings.scope == thawed.scope else { continue }
      let handlers = freezing.handlers(for: thawed.tag)
      if !handlers.isEmpty { return (engine, handlers) }
    }
    return nil
  }

  // MARK: Leaving

  /// An engine that shuts down, until nothing of it is on its way.
  struct Leaving {
    let engine: NetworkEngine
    let done: () -> Void
  }

  /// The engine takes part no longer. What waits is handed over now, what is being sent when its attempt has ended,
  /// which the engine sees to; `done` follows, at the latest some seconds after the deadline.
  func leave(_ engine: NetworkEngine, deadline: Duration, _ done: @escaping () -> Void) {
    leaving.append(Leaving(engine: engine, done: done))
    core.timers.after(milliseconds: deadline.milliseconds + 2_000) { [weak self] in
      self?.finishLeaving(isLate: true)
    }
    settleSoon()
  }

  func finishLeaving(isLate: Bool = false) {
    for place in leaving.indices.reversed() {
      let engine = leaving[place].engine
      for id in Array(waiting.keys) where isLate || !spool.isMoving(id) {
        handOver(id) { $0.engine === engine }
      }
      let isOnItsWay =
        attempts.values.contains { $0.engine === engine }
        || waiting.values.contains { $0.operations.contains { $0.engine === engine } }
        || accepting.values.contains { $0.engine === engine } || untold.values.contains { $0 === engine }
      if isOnItsWay && !isLate { continue }
      engines.removeAll { $0.engine === engine }
      let done = leaving.remove(at: place).done
      if engines.allSatisfy({ $0.engine == nil }), leaving.isEmpty { core.end(self) }
      done()
    }
  }
}

extension FrozenOutcome {
  /// What is kept of the answer.
  var response: NetworkResponse {
    NetworkResponse(
      head: ResponseHead(version: .http11, status: status, headers: headers), body: ResponseBody(body),
      source: .network, finalURL: url, metrics: NetworkResponse.Metrics(), streams: [])
  }
}
