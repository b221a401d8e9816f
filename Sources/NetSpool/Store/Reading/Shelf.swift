/// Whether a full key is meant; on the store thread.
typealias KeyMatch = @Sendable (_ fullKey: RawSpan) -> Bool

/// What callers of any thread share with the store thread; always under one lock.
struct Shelf: ~Copyable {
  /// In the order it is to be written.
  enum Work: Sendable {
    case change(KeyDigest, sequence: UInt64)
    /// Of a namespace: those whose full key matches, or all.
    case removeAll(namespace: String, matches: KeyMatch?, Waiter)
    case flush(Waiter)
  }

  static let touchedMax = 1_000

  var pending = PendingTable()
  var waiting: [Work] = []
  var current: Snapshot?
  /// Not current any more, but leases keep them.
  var retired: [Snapshot] = []
  var verified = VerifiedBodies()
  /// Entries used whose recorded use is old.
  var touched: [KeyDigest] = []
  /// Uses recorded before this moment (wall clock) are old.
  var touchBefore: UInt64 = 0
  var statistics = CacheStatistics()
  var nextBodyID = UInt64(WallClock.microseconds)
  var onRoom: [@Sendable () -> Void] = []
  /// The store thread waits for a signal.
  var isAsleep = false
  /// It does so to have more changes in its next commit: they need not wake it.
  var isGathering = false
  /// Something waits that somebody waits for.
  var isUrgent = false
  var isClosing = false
  /// The current snapshot was used since the store thread looked last.
  var isCurrentUsed = false

  mutating func takeBodyID() -> UInt64 {
    nextBodyID += 1
    return nextBodyID
  }

  /// True when the store thread must be woken.
  mutating func enqueue(_ work: Work) -> Bool {
    waiting.append(work)
    guard case .change = work else {
      isUrgent = true
      return wake()
    }
    return isGathering && !hasGathered ? false : wake()
  }

  /// Enough waits for a commit to be worth it.
  var hasGathered: Bool { isUrgent || isClosing || pending.bytes >= Self.gatheredBytes }

  private static let gatheredBytes = 1 << 20

  mutating func wake() -> Bool {
    defer { isAsleep = false }
    return isAsleep
  }

  /// All that waits, in order.
  mutating func takeWaiting() -> [Work] {
    isUrgent = false
    defer { waiting = [] }
    return waiting
  }

  /// From now on lookups begin with another snapshot.
  mutating func retireCurrent() {
    guard let snapshot = current else { return }
    current = nil
    if !snapshot.retire() { retired.append(snapshot) }
  }

  mutating func forgetEnded() { retired.removeAll { $0.hasEnded } }
}
