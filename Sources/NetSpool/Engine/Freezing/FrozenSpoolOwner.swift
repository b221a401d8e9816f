/// Who sends what a spool releases, and hears what came of it. All calls come on the spool's thread, from inside
/// one of its methods.
protocol FrozenSpoolOwner: AnyObject {
  /// Whether there is use in an attempt now. False: it waits, and its lane with it, for `FrozenSpool.wake` or `thaw`.
  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool
  /// The attempt is recorded: now its bytes may leave. Answered by `FrozenSpool.didEnd`, once.
  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8])
  /// The attempt must end: nobody waits for its answer any more.
  func abort(_ id: FrozenID)
  /// Its outcome is recorded. Answered by `FrozenSpool.acknowledge` once the caller's handler has returned.
  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome)
  /// It is a dead letter, and that is recorded.
  func didBury(_ id: FrozenID, _ letter: DeadLetter)
  /// It waits for another attempt, and that is recorded.
  func didPostpone(_ id: FrozenID, _ record: FrozenRecord)
  /// The disk refused: nothing is sent or recorded any more.
  func didFail(_ failure: NetworkError)
}

/// A word of the store thread to the spool's; `FrozenSpool.take` understands it.
struct FrozenNotice: Sendable {
  enum Subject: Sendable {
    case acceptance(token: UInt64)
    case step(FrozenID)
    case letter(token: UInt64)
  }

  let subject: Subject
  let result: Result<FrozenReceipt, NetworkError>
}
