internal import Synchronization

/// Changes whose callers wait for the disk, for a while: another process may keep the store, or the disk hang.
extension CacheStoreCore {
  private static let patience: Microseconds = 5_000_000
  /// How long a caller waits until a store that another process keeps is tried once more.
  private static let step: Microseconds = 250_000

  func removeAll(namespace: String, pattern: [UInt8]?) {
    let removal = PendingRemoval(namespace, pattern, settings)
    enqueueAndWait(.removeAll(removal), removal.waiter) { shared in
      noteFence(nil, at: MonotonicClock.now, &shared)
      for key in shared.pending.puts(where: { removal.means($1, $0.fullKey) }) {
        shared.enqueue(.change(key.digest, sequence: shared.pending.add(key, .removed)))
      }
      shared.removals.begin(removal)
      // The next snapshot knows what is not to be found, and who has looked before looks again.
      let mark = nextMark()
      shared.removals.mark = mark
      removalMark.store(mark, ordering: .releasing)
      shared.marks.noteAll(mark)
    }
  }

  func flush() {
    let end = MonotonicClock.now + Self.patience
    var isWritten = false
    while !isWritten, MonotonicClock.now < end {
      let waiter = SystemSemaphore()
      guard enqueueAndWait(.flush { waiter.signal() }, waiter, until: end) else { return }
      isWritten = shared.withLock { $0.statistics.state != .busy }
    }
  }

  /// False when the store was closed.
  @discardableResult
  private func enqueueAndWait(
    _ work: CacheSharedState.Work, _ waiter: borrowing SystemSemaphore,
    until end: Microseconds = MonotonicClock.now + patience,
    after change: (inout CacheSharedState) -> Void = { _ in }
  ) -> Bool {
    let isTaken: Void? = shared.send { shared in
      change(&shared)
      shared.enqueue(work)
    }
    guard isTaken != nil else { return false }
    while !waiter.wait(until: min(MonotonicClock.now + Self.step, end)), MonotonicClock.now < end {
      _ = shared.send { $0.enqueue(.flush {}) }
    }
    return true
  }
}

/// A removal by what entries are, on its way to the disk.
final class PendingRemoval: Sendable {
  let namespace: String
  /// Nil: all.
  let pattern: [UInt8]?
  let waiter = SystemSemaphore()
  private let matches: KeyMatch?

  init(_ namespace: String, _ pattern: [UInt8]?, _ settings: CacheStoreSettings) {
    (self.namespace, self.pattern) = (namespace, pattern)
    matches = pattern.map(settings.match)
  }

  fileprivate func means(_ put: PendingPut, _ fullKey: [UInt8]) -> Bool {
    put.namespace == namespace && matches?(fullKey.rawBytes, put.metadata.rawBytes) ?? true
  }
}

/// What this process has removed and the disk does not know yet.
struct PendingRemovals {
  private var all: [PendingRemoval] = []
  /// See `CacheStoreCore.removalMark`.
  var mark: UInt64 = 0

  /// More are not told apart: then all of their namespaces counts as removed until they are written. Each lookup asks each of them.
  private static let countMax = 64

  var count: Int { all.count }

  mutating func begin(_ removal: PendingRemoval) { all.append(removal) }

  mutating func end(_ removal: PendingRemoval) { all.removeAll { $0 === removal } }

  /// The same as marks of a store; younger entries are meant as well until then.
  func marks(
    for core: CacheStoreCore, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [Removal] {
    if all.isEmpty { return [] }
    var meant: [String: [[UInt8]?]] = [:]
    for removal in all { meant[removal.namespace, default: []].append(removal.pattern) }
    var marks: [Removal] = []
    try transaction.forEach(in: core.databases.namespaces) { record in
      let number: UInt64 = record.key.byteCount == 8 ? record.key.integer(at: 0) : 0
      guard let namespace = NamespaceRecord(number: number, decoding: record.value) else { return true }
      let patterns = meant[namespace.name] ?? []
      for pattern in all.count > Self.countMax ? patterns.prefix(1).map({ _ in nil }) : patterns {
        marks.append(
          Removal(
            number: 0, namespace: namespace.number, pattern: pattern, youngest: .max, madeAt: 0, core.settings
          ))
      }
      return true
    }
    return marks
  }
}
