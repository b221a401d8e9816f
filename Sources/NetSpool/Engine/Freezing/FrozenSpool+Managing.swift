// What callers do with requests that wait, and with those that came to an end.

extension FrozenSpool {
  /// Gives a request up; what was sent of it is not called back. False when it is dead or done, or about to be.
  /// `didBecomeDeadLetter` follows.
  func cancel(_ id: FrozenID) -> Bool {
    guard failure == nil, scheduler.contains(id) else { return false }
    switch travelling[id]?.step {
    case .finish, .deadLetter: return false
    case .launch, .postpone:
      travelling[id]?.isUnwanted = true
      return true
    case nil:
      if travelling[id]?.record.state == .inFlight { owner?.abort(id) }
      advance(id, .cancelled)
      return true
    }
  }

  /// The handlers took the outcome: it need not be kept any more. `then`: once that is on the disk, or never will be.
  func acknowledge(_ id: FrozenID, then: @escaping () -> Void = {}) {
    write(.acknowledge(id.number)) { _, _ in then() }
  }

  /// The handlers have run: the dead letter is kept, and not delivered again. `diedWall`: of the death that they were told of,
  /// as it may have been revived since, and died once more.
  func acknowledgeLetter(_ id: FrozenID, _ diedWall: Microseconds, then: @escaping () -> Void = {}) {
    guard let ending = try? store.ending(.deadLetters, id.number),
      var letter = DeadLetter(ending, at: world.now()), letter.diedWall == diedWall,
      undelivered.remove(id) != nil
    else { return then() }
    letter.isDelivered = true
    let told = FrozenEnding(endedAt: ending.endedAt, payload: letter.encode(at: world.now()))
    write(.amend(id.number, told)) { _, _ in then() }
  }

  func letter(_ id: FrozenID) -> DeadLetter? {
    (try? store.ending(.deadLetters, id.number)).flatMap { DeadLetter($0, at: world.now()) }
  }

  /// Has a dead one sent after all, with its old key. `then` comes once that is on the disk, or with
  /// `invalidRequest(letter)` when there is no such letter or its body is gone.
  func revive(_ id: FrozenID, then: @escaping (Result<FrozenID, NetworkError>) -> Void) {
    let now = world.now()
    guard let ending = try? store.ending(.deadLetters, id.number),
      var record = DeadLetter(ending, at: now)?.record, !scheduler.contains(id)
    else { return then(.failure(NetworkError(.invalidRequest, reason: "letter"))) }
    record.facts.state = .dead
    _ = record.handle(.revived, at: now, policy: policy, random: world.random())
    let lane = LaneKey(record.request.lane)
    let row = FrozenRow(
      lane: KeyDigest((lane.first, lane.second)), dedupeKey: record.request.dedupeKey.map { Array($0.utf8) },
      payload: record.encode(at: now))
    write(.revive(id.number, row)) { [facts = record.facts] spool, result in
      if case .failure(let failure) = result { return then(.failure(failure)) }
      spool.forget(id)
      spool.add(id, facts, lane, spool.world.now())
      then(.success(id))
    }
  }

  /// Forgets a dead one. `then`: once that is on the disk, or never will be.
  func discard(_ id: FrozenID, then: @escaping () -> Void = {}) {
    write(.discard(id.number)) { spool, result in
      if case .success = result { spool.forget(id) }
      then()
    }
  }

  /// A dead one is no more: its lane goes on.
  func forget(_ id: FrozenID) {
    undelivered.remove(id)
    scheduler.free(from: id)
  }

  // MARK: The network, and the end

  /// There is a network again: what waits goes, lane by lane.
  func thaw() { scheduler.thaw(at: world.now().monotonic, random: world.random) }

  /// This one need not wait: it was only to be found out whether it may be sent.
  func release(_ id: FrozenID) { scheduler.release(id, at: world.now().monotonic) }

  /// Nor need all for which there was no use in sending.
  func releaseHeld() { scheduler.releaseHeld(at: world.now().monotonic) }

  /// There may be use in sending this one now; its lane goes on with it.
  func wake(_ id: FrozenID) { scheduler.wake(id, at: world.now().monotonic, random: world.random()) }

  /// Before the store is closed: nothing more is sent, and the attempts on their way are given back to their lanes,
  /// so that the next process does not take this one's end for a crash. `sendState`: how much of each has left.
  func park(_ sendState: (FrozenID) -> NetworkError.SendState) {
    scheduler.isSuspended = true
    for (id, request) in travelling where request.step == nil && request.record.state == .inFlight {
      advance(id, .parked(sendState(id)))
    }
  }

  /// Writes all there is to write, before the store is closed.
  func finish() {
    while journal.isWaiting { journal.writeBatch().forEach(take) }
    journal.writeLast().forEach(take)
  }
}

/// What a store holds, read as what it means. Any thread.
extension FrozenStore {
  /// Requests that wait or are on their way, in the order in which they were accepted.
  func records(at now: ClockMoment) throws(NetworkError) -> [(id: FrozenID, record: FrozenRecord)] {
    var records: [(id: FrozenID, record: FrozenRecord)] = []
    try scan { number, _, payload in
      if let record = FrozenRecord(decoding: payload, at: now) { records.append((FrozenID(number), record)) }
      return true
    }
    return records
  }

  /// Nil when it has just ended, or cannot be read.
  func record(_ id: FrozenID, at now: ClockMoment) throws(NetworkError) -> FrozenRecord? {
    try row(id.number).flatMap { FrozenRecord(decoding: $0.payload.rawBytes, at: now) }
  }

  /// The oldest first.
  func deadLetters(at now: ClockMoment) throws(NetworkError) -> [(id: FrozenID, letter: DeadLetter)] {
    try endings(.deadLetters).compactMap { number, ending in
      DeadLetter(ending, at: now).map { (FrozenID(number), $0) }
    }
  }
}
