/// What callers of any thread share with the store thread; always under one lock.
struct CacheSharedState: ~Copyable {
  /// A piece of work for the store thread, in the order in which it is to be written.
  enum Work: Sendable {
    case change(KeyDigest, sequence: UInt64)
    /// Removes the entries of a namespace that a pattern means, or all.
    case removeAll(PendingRemoval)
    /// Behind what was changed before it.
    case finish(Claim)
    /// Calls once all before it is committed, or dropped.
    case flush(@Sendable () -> Void)
  }

  static let touchedMax = 1_000

  var pending = PendingTable()
  var fences = Fences()
  var removals = PendingRemovals()
  var waiting: [Work] = []
  var current: Snapshot?
  /// Not current any more, but leases keep them.
  var retired: [Snapshot] = []
  var verified = VerifiedBodies()
  /// Entries that were used, and whose recorded use is old.
  var touched: Set<KeyDigest> = []
  /// Entries are being removed to make room: then every use counts at once.
  var isEvicting = false
  /// Bytes at most of namespaces, where somebody has named them.
  var quotas: [String: Int] = [:]
  /// Uses recorded before this moment (wall clock) are old.
  var touchBefore: UInt64 = 0
  var statistics = CacheStatistics()
  /// By chance: counted on from a clock that was set back, bodies would get the numbers of others.
  var nextBodyID = UInt64.random(in: 1 << 32..<1 << 62)
  /// The store thread waits for a signal.
  var isAsleep = false
  /// Whether it waits to have more changes in its next commit: they need not wake it.
  var isGathering = false
  /// Whether a caller waits for work that is in the queue.
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
    switch work {
    case .change, .finish: break
    case .removeAll, .flush:
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

  /// The claims that wait.
  mutating func takeFinished() -> [Claim] {
    var claims: [Claim] = []
    waiting.removeAll { work in
      guard case .finish(let claim) = work else { return false }
      claims.append(claim)
      return true
    }
    return claims
  }

  /// Makes lookups begin with another snapshot from now on.
  mutating func retireCurrent() {
    guard let snapshot = current else { return }
    current = nil
    if !snapshot.retire() { retired.append(snapshot) }
  }

  mutating func forgetEnded() { retired.removeAll { $0.hasEnded } }
}

/// Remembers which bodies this process has compared with their checksums: a bit per body id.
///
/// Ids of one process follow each other, so the bits stand in blocks of 32,768. There are at most 256 blocks
/// (1 MiB); a newer one takes the place of an older one, whose bodies are then compared once more.
struct VerifiedBodies {
  private static let blockBits = 15
  private static let blockWords = 1 << (blockBits - 6)
  private static let blocksMax = 256
  /// The number of the block at each index.
  private var numbers: [UInt64] = []
  /// The blocks, one behind the other.
  private var words: [UInt64] = []

  func contains(_ id: UInt64) -> Bool {
    let (number, place) = Self.block(of: id)
    guard place < numbers.count, numbers[place] == number else { return false }
    return words[Self.word(of: id, in: place)] & (1 << (id % 64)) != 0
  }

  mutating func insert(_ id: UInt64) {
    let (number, place) = Self.block(of: id)
    while numbers.count <= place {
      numbers.append(.max)
      words.append(contentsOf: repeatElement(0, count: Self.blockWords))
    }
    if numbers[place] != number {
      numbers[place] = number
      for index in 0..<Self.blockWords { words[place * Self.blockWords + index] = 0 }
    }
    words[Self.word(of: id, in: place)] |= 1 << (id % 64)
  }

  private static func block(of id: UInt64) -> (number: UInt64, place: Int) {
    let number = id >> blockBits
    return (number, Int(number % UInt64(blocksMax)))
  }

  private static func word(of id: UInt64, in place: Int) -> Int {
    place * blockWords + Int(id >> 6) & (blockWords - 1)
  }
}
