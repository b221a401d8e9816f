/// What a store holds, read as what it means. Any thread.
extension FrozenStore {
  /// Requests that wait or are on their way, in the order in which they were accepted.
  func records(at now: FrozenMoment) throws(NetworkError) -> [(id: FrozenID, record: FrozenRecord)] {
    var records: [(id: FrozenID, record: FrozenRecord)] = []
    try scan { number, _, payload in
      if let record = FrozenRecord(decoding: payload, at: now) { records.append((FrozenID(number), record)) }
      return true
    }
    return records
  }

  /// The oldest first.
  func deadLetters(at now: FrozenMoment) throws(NetworkError) -> [(id: FrozenID, letter: DeadLetter)] {
    try endings(.deadLetters).compactMap { number, ending in
      DeadLetter(ending, at: now).map { (FrozenID(number), $0) }
    }
  }
}
