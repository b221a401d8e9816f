/// A frozen request that will not be sent any more, with the reason. Kept for 7 days, 10,000 at most.
public struct FrozenDeadLetter: Sendable, Identifiable {
  /// Its number in the store.
  public let id: UInt64
  /// Why: `.frozenRejected` (the origin said no), `.frozenPoisoned`, `.frozenExpired`, `.outcomeUnknown`, `.cancelled`,
  /// `.storeCorrupt`.
  public let error: NetworkError
  /// The origin may have acted on it.
  public let isOutcomeUnknown: Bool
  /// Seconds since 1970.
  public let diedAt: Double
  /// The request; nil when its bytes on the disk were not what was written.
  public let operation: FrozenOperation?

  init(_ id: FrozenID, _ letter: DeadLetter) {
    self.id = id.number
    error = letter.failure
    isOutcomeUnknown = letter.death.isOutcomeUnknown
    diedAt = Double(letter.diedWall) / 1e6
    operation = letter.record.map { FrozenOperation(id, $0) }
  }
}
