/// Looking at an engine's frozen requests, and deciding about them. Any thread.
extension EngineFreezing {
  var records: [(id: FrozenID, record: FrozenRecord)] {
    let now = freezer.settings.now()
    return ((try? freezer.store.records(at: now)) ?? []).filter { $0.record.request.scope == settings.scope }
  }

  var deadLetters: [(id: FrozenID, letter: DeadLetter)] {
    let letters = (try? freezer.store.deadLetters(at: freezer.settings.now())) ?? []
    return letters.filter { isOurs($0.letter) }
  }

  /// Nil when there is no such letter of this engine.
  private func letter(_ id: FrozenID) -> DeadLetter? {
    let ending = try? freezer.store.ending(.deadLetters, id.number)
    return ending.flatMap { DeadLetter($0, at: freezer.settings.now()) }.flatMap { isOurs($0) ? $0 : nil }
  }

  /// What cannot be read is everybody's.
  private func isOurs(_ letter: DeadLetter) -> Bool {
    letter.record.map { $0.request.scope == settings.scope } ?? true
  }

  /// False when no such request of this engine waits.
  func cancel(_ id: FrozenID) -> Bool {
    guard let row = try? freezer.store.row(id.number),
      let record = FrozenRecord(decoding: row.payload.rawBytes, at: freezer.settings.now()),
      record.request.scope == settings.scope
    else { return false }
    return freezer.dispatch { _ = $0.spool.cancel(id) }
  }

  /// Calls back, on the freezer's thread, as soon as nothing of the store is being written or sent; at once when it is closed.
  func whenStill(_ done: @escaping @Sendable () -> Void) {
    if !freezer.dispatch({ $0.whenStill.append(done) }) { done() }
  }

  func thaw() { freezer.dispatch { $0.thaw() } }

  /// Throws `invalidRequest(letter)`.
  func revive(_ id: FrozenID) throws(NetworkError) {
    guard let letter = letter(id), letter.record != nil, letter.hasBody else {
      throw NetworkError(.invalidRequest, reason: "letter")
    }
    freezer.dispatch { $0.spool.revive(id) { _ in } }
  }

  func discard(_ id: FrozenID) {
    guard letter(id) != nil else { return }
    freezer.dispatch { $0.spool.discard(id) }
  }
}

extension DeadLetter {
  /// One that was cancelled was wanted by nobody.
  fileprivate var hasBody: Bool { death.reason != .cancelled }
}
