/// State that callers of any thread share with the store thread; always under one lock, which loops take too: so no thread
/// reads the file under it (`StoreViews`).
struct CacheSharedState: InboxWork, ~Copyable {
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
  var marks = ChangeMarks()
  /// Entries that were used, and whose recorded use is old.
  var touched: Set<KeyDigest> = []
  /// Once so many bytes wait, the store is soon so full that entries are removed to make room.
  var bytesUntilUsesCount = 0
  /// Bytes at most of namespaces, where settings have named them.
  var quotas: [String: Int] = [:]
  var statistics = CacheStatistics()
  /// By chance: counted on from a clock that was set back, bodies would get the numbers of others.
  var nextBodyID = UInt64.random(in: 1 << 32..<1 << 62)
  /// True if it waits to have more changes in its next commit: they need not wake it.
  var isGathering = false
  /// True if a caller waits for work that is in the queue.
  var isUrgent = false
  /// A snapshot has begun since the store thread looked last.
  var hasNewView = false

  mutating func takeBodyID() -> UInt64 {
    nextBodyID += 1
    return nextBodyID
  }

  /// Then each is recorded with the next commit.
  var doesEveryUseCount: Bool { pending.bytes >= bytesUntilUsesCount }

  var isWaiting: Bool {
    hasNewView || touched.count >= Self.touchedMax || !waiting.isEmpty && !(isGathering && !hasGathered)
  }

  mutating func enqueue(_ work: Work) {
    waiting.append(work)
    switch work {
    case .change, .finish: break
    case .removeAll, .flush: isUrgent = true
    }
  }

  /// Enough waits for a commit to be worth it.
  var hasGathered: Bool { isUrgent || pending.bytes >= Self.gatheredBytes }

  private static let gatheredBytes = 1 << 20

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
}

/// When resources were changed last by this process: who has looked before then looks again. Resources that share a place
/// here count as one.
struct ChangeMarks {
  private static let count: UInt64 = 4_096
  private var marks = [UInt64](repeating: 0, count: Int(count))
  private var common: UInt64 = 0

  mutating func note(_ resource: UInt64, _ mark: UInt64) { marks[Int(resource % Self.count)] = mark }
  mutating func noteAll(_ mark: UInt64) { common = mark }

  func hasChanged(_ resource: UInt64, since mark: UInt64) -> Bool {
    max(common, marks[Int(resource % Self.count)]) > mark
  }
}
