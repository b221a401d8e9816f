// Sending: an attempt is recorded before its first byte, an outcome before anybody hears of it.

extension FrozenSpool {
  /// Sends what may be sent now, and gives up what is too old. Cheap when there is nothing to do.
  func pump() {
    guard failure == nil else { return }
    let now = world.now().monotonic
    while let id = scheduler.nextExpired(at: now) {
      // Nothing is decided about one of which a step is being written.
      if travelling[id]?.step != nil { scheduler.lookAgain(at: id, due: now + .second) }
      advance(id, .expired)
    }
    // A full disk may take the next attempt and not the outcome before it.
    let runsAhead = !journal.isHolding
    while let id = scheduler.next(at: now, runsAhead: runsAhead) { launch(id) }
  }

  private func launch(_ id: FrozenID) {
    // What an earlier process left in flight is still being decided: it comes back to its lane.
    guard travelling[id]?.step == nil else { return }
    let now = world.now()
    do throws(NetworkError) {
      let record = try read(id, now)
      // Looked at before the disk is asked for anything: a week offline costs no writes.
      guard record.facts.isExpired(at: now) || owner?.maySend(id, record) ?? true else {
        return scheduler.wait(id, until: .max, forNetwork: true)
      }
      travelling[id] = Travelling(record: record)
      advance(id, .launched(epoch: store.epoch))
    } catch {
      if error.code == .storeCorrupt { return lose(id, error) }
      // It could not be looked at, as where too many read there.
      scheduler.wait(id, until: now.monotonic + 5 * .second)
    }
  }

  /// The attempt that `FrozenSpoolOwner.send` began is over. `headers`, `body`: of its answer.
  /// Nothing happens when the request is dead or done meanwhile.
  func didEnd(_ id: FrozenID, _ event: FrozenEvent, headers: Headers = Headers(), body: [UInt8] = []) {
    guard let travelling = travelling[id], travelling.step == nil, travelling.record.state == .inFlight else {
      return
    }
    advance(id, event, headers: headers, body: body)
  }

  /// Asks the machine, and has its answer written. One that waits is read from the store for that.
  func advance(_ id: FrozenID, _ event: FrozenEvent, headers: Headers = Headers(), body: [UInt8] = []) {
    guard travelling[id]?.step == nil else { return }
    let now = world.now()
    do throws(NetworkError) {
      var record: FrozenRecord
      if let known = travelling[id]?.record { record = known } else { record = try read(id, now) }
      if event == .expired, !record.facts.isExpired(at: now) {
        return scheduler.lookAgain(at: id, due: now.monotonic + record.facts.timeLeft(at: now) + 1)
      }
      let action = record.handle(event, at: now, policy: policy, random: world.random())
      travelling[id] = Travelling(record: record, step: nil)
      write(id, record, action, now) { FrozenOutcome(record, headers: headers, body: body, at: now) }
    } catch {
      lose(id, error)
    }
  }

  private func read(_ id: FrozenID, _ now: ClockMoment) throws(NetworkError) -> FrozenRecord {
    guard let record = try store.record(id, at: now) else {
      throw NetworkError(.storeCorrupt, reason: "record \(id.number)")
    }
    return record
  }

  private func write(
    _ id: FrozenID, _ record: FrozenRecord, _ action: FrozenAction, _ now: ClockMoment,
    outcome: () -> FrozenOutcome
  ) {
    switch action {
    case .send:
      begin(id, .launch, .attempt(id.number, payload: record.encode(at: now)))
    case .wait(let time, let cause):
      begin(id, .postpone(time, cause), .postpone(id.number, payload: record.encode(at: now)))
    case .deliver:
      let outcome = outcome()
      let ending = FrozenEnding(endedAt: now, payload: outcome.encode())
      begin(id, .finish(outcome), .finish(id.number, ending))
      scheduler.end(id)
    case .deadLetter(let cause):
      let halts = cause.isPoisoned && policy.haltsLaneOnPoison
      let letter = DeadLetter(cause, haltsLane: halts, diedWall: now.wall, record: record)
      let ending = FrozenEnding(endedAt: now, payload: letter.encode(at: now))
      begin(id, .deadLetter(letter), .deadLetter(id.number, ending, keepsBody: cause.reason != .cancelled))
    }
  }

  private func begin(_ id: FrozenID, _ step: Step, _ change: FrozenChange) {
    travelling[id]?.step = step
    journal.append(change, .step(id))
  }

  /// Its row is not what was written, or is gone: it cannot be sent, and what can be kept of it is.
  private func lose(_ id: FrozenID, _ failure: NetworkError) {
    leave(id)
    note(failure)
    let letter = DeadLetter(.lost, diedWall: world.now().wall, record: nil)
    owner?.didBecomeDeadLetter(id, letter)
  }

  // MARK: Written

  /// Has what is due written, as much as one commit takes, and does what follows from it. Waits for the disk.
  func write() { journal.write().forEach(take) }

  /// What the store answered.
  func take(_ notice: FrozenNotice) {
    switch notice.subject {
    case .caller(let then):
      awaited -= 1
      if case .failure(let failure) = notice.result { note(failure) }
      then(self, notice.result)
    case .step(let id):
      guard let step = travelling[id]?.step else { return }
      travelling[id]?.step = nil
      switch notice.result {
      case .success(let receipt): didWrite(id, step, receipt)
      case .failure(let failure): didNotWrite(id, step, failure)
      }
    case .sweep:
      guard case .success(let receipt) = notice.result else { return }
      for number in receipt.removed { forget(FrozenID(number)) }
    }
  }

  private func didWrite(_ id: FrozenID, _ step: Step, _ receipt: FrozenReceipt) {
    guard let travelling = travelling[id] else { return }
    switch step {
    case .launch:
      if travelling.isUnwanted { return advance(id, .cancelled) }
      // The network, the end or the time may have come while the disk was written.
      guard maySend(travelling.record), !scheduler.isAhead(id) else { return advance(id, .parked(.notSent)) }
      owner?.send(id, travelling.record, body: receipt.body)
    case .postpone(let time, let cause): didPostpone(id, travelling, time, cause)
    case .finish(let outcome):
      leave(id)
      owner?.didFinish(id, outcome)
    case .deadLetter(let letter): didBecomeDeadLetter(id, letter)
    }
  }

  private func maySend(_ record: FrozenRecord) -> Bool {
    !scheduler.isSuspended && !record.facts.isExpired(at: world.now())
  }

  private func didPostpone(
    _ id: FrozenID, _ travelling: Travelling, _ time: Microseconds, _ cause: FrozenAction.Cause
  ) {
    let now = world.now().monotonic
    self.travelling[id] = nil
    if cause != .ours { scheduler.didFail(id, at: now, policy: policy, random: world.random()) }
    scheduler.wait(id, until: now + time, forNetwork: cause == .network)
    if travelling.isUnwanted { return advance(id, .cancelled) }
    owner?.didPostpone(id, travelling.record)
  }

  private func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter) {
    if letter.cause.reason == .rejected { scheduler.didSucceed(id) }
    if let record = letter.record, letter.haltsLane { scheduler.halt(LaneKey(record.request.lane), by: id) }
    undelivered.insert(id)
    leave(id)
    owner?.didBecomeDeadLetter(id, letter)
  }

  private func leave(_ id: FrozenID) {
    travelling[id] = nil
    scheduler.remove(id)
  }

  /// An attempt that could not be recorded is not made. What ends a request fails only with the whole store, or
  /// when its row is not what was written.
  private func didNotWrite(_ id: FrozenID, _ step: Step, _ failure: NetworkError) {
    note(failure)
    if case .launch = step, failure.code != .storeCorrupt {
      let isUnwanted = travelling.removeValue(forKey: id)?.isUnwanted ?? false
      scheduler.wait(id, until: world.now().monotonic + 5 * .second)
      owner?.didNotLaunch(id)
      if isUnwanted, self.failure == nil { advance(id, .cancelled) }
      return
    }
    // The body is not what was written; the request itself is.
    if case .launch = step { return advance(id, .damaged) }
    if failure.code == .storeCorrupt { return lose(id, failure) }
    travelling[id] = nil
  }
}
