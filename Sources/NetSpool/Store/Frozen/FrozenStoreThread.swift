internal import Glibc
internal import Synchronization

/// The one thread that writes: it takes what waits, commits it, and tells the callers that wait for it.
///
/// A commit waits for the disk, and what comes meanwhile shares the next one: so one change on an idle store is
/// written at once, and under load hundreds share a sync. That an outcome was taken waits a little for company, as the
/// next outcome of its lane would otherwise wait for a commit of that alone.
struct FrozenStoreThread: ~Copyable {
  private let core: FrozenStoreCore
  private var writer: FrozenWriter
  /// What a full disk kept from being written.
  private var held: [FrozenStoreCore.Work] = []
  private var retriesAt: Microseconds = .max
  private var sweepsAt: Microseconds = MonotonicClock.now

  private static let batchMax = 256
  private static let batchBytesMax = 8 << 20

  init(_ core: FrozenStoreCore, _ meta: FrozenMeta) {
    self.core = core
    writer = FrozenWriter(
      environment: core.environment, tables: core.tables, settings: core.settings, meta: meta)
  }

  consuming func run() {
    while let batch = next() {
      perform(batch)
      retryHeld()
      sweep()
    }
    finish()
  }

  // MARK: Waiting

  /// What waits now, which may be nothing when something else is due; nil at the end.
  private mutating func next() -> [FrozenStoreCore.Work]? {
    let deadline = min(retriesAt, sweepsAt)
    return core.shared.next { shared, look in
      if shared.isUrgent || look.isClosed || MonotonicClock.now >= shared.patientUntil {
        let batch = Self.takeBatch(&shared)
        if !batch.isEmpty { return .take(batch) }
      } else if shared.patientUntil < deadline {
        return .sleep(until: shared.patientUntil)
      }
      if look.isClosed { return .end }
      return look.isLate ? .take([]) : .sleep(until: deadline)
    }
  }

  private static func takeBatch(_ shared: inout FrozenStoreCore.Shared) -> [FrozenStoreCore.Work] {
    var batch: [FrozenStoreCore.Work] = []
    var bytes = 0
    while batch.count < batchMax, bytes < batchBytesMax, let work = shared.takeFirst() {
      bytes += work.change.bytes
      batch.append(work)
    }
    return batch
  }

  // MARK: Writing

  private mutating func perform(_ batch: [FrozenStoreCore.Work]) {
    guard !batch.isEmpty else { return }
    if let failure = core.shared.withLock({ $0.failure }) { return Self.refuse(batch, failure) }
    do throws(StoreError) {
      let results = try writer.write(batch.map(\.change))
      didCommit(batch.count)
      for (work, result) in zip(batch, results) { work.callback?(result) }
    } catch {
      let trouble = FrozenTrouble(error, freeBytes: core.environment.freeDiskBytes)
      if trouble == .broken { return fail(batch, error) }
      // One that is too large must not take the others with it.
      guard let work = batch.first, batch.count == 1 else {
        for work in batch { perform([work]) }
        return
      }
      meet(trouble, error, work)
    }
  }

  private mutating func meet(_ trouble: FrozenTrouble, _ error: StoreError, _ work: FrozenStoreCore.Work) {
    if trouble == .mapFull, work.change.isAcceptance {
      return Self.refuse([work], NetworkError(.queueFull, cause: .frozenBytes, underlying: error.underlying))
    }
    if trouble == .mapFull, core.growMap() {
      core.shared.withLock { $0.statistics.growths += 1 }
      return perform([work])
    }
    if work.change.mayFail {
      let free = core.environment.freeDiskBytes.map { "\($0) bytes free" }
      return Self.refuse([work], error.failure(.storageFull, reason: free))
    }
    held.append(work)
    retriesAt = MonotonicClock.now + core.settings.retryPeriod
    let count = held.count
    core.shared.withLock { $0.statistics.held = count }
  }

  private mutating func retryHeld() {
    guard !held.isEmpty, MonotonicClock.now >= retriesAt else { return }
    let again = held
    held = []
    retriesAt = .max
    perform(again)
    let count = held.count
    core.shared.withLock { $0.statistics.held = count }
  }

  private mutating func sweep() {
    guard MonotonicClock.now >= sweepsAt else { return }
    sweepsAt = MonotonicClock.now + core.settings.sweepPeriod
    perform([FrozenStoreCore.Work(change: .sweep(nowWall: WallClock.microseconds), callback: nil)])
    core.environment.clearDeadReaders()
  }

  private func didCommit(_ changes: Int) {
    let (records, bytes, dropped) = (writer.records, writer.usedBytes, writer.meta.dropped)
    core.shared.withLock { shared in
      shared.statistics.records = records
      shared.statistics.bytes = bytes
      shared.statistics.dropped = Int(clamping: dropped)
      shared.statistics.commits += 1
      shared.statistics.changes += changes
    }
  }

  // MARK: Trouble

  private mutating func fail(_ batch: [FrozenStoreCore.Work], _ error: StoreError) {
    if error.isDamage { core.environment.directory.markSuspect() }
    let failure = error.failure(.storeFailed, reason: "commit")
    core.shared.withLock { $0.failure = failure }
    Self.refuse(held + batch, failure)
    held = []
    retriesAt = .max
  }

  private static func refuse(_ batch: [FrozenStoreCore.Work], _ failure: NetworkError) {
    for work in batch { work.callback?(.failure(failure)) }
  }

  private mutating func finish() {
    let last = held
    held = []
    perform(last)
    Self.refuse(held, NetworkError(.storageFull, reason: "closing"))
  }
}

/// What a frozen store's thread and its users share.
final class FrozenStoreCore: Sendable {
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  let shared: Inbox<Shared>
  /// Shared by readers, taken by the store thread while the map moves.
  private let mapUse = SharedLock()
  private let hasMap = Atomic(true)

  struct Work: Sendable {
    let change: FrozenChange
    let callback: FrozenCallback?
  }

  /// Always under one lock.
  struct Shared: InboxWork {
    private var waiting = FIFO<Work>()
    /// How many of them cannot wait.
    private var urgent = 0
    /// All that waits is written by then, the earliest first.
    private(set) var patientUntil = Microseconds.max
    /// The disk refused: nothing is written any more.
    var failure: NetworkError?
    var statistics = FrozenStatistics()

    private static let patience: Microseconds = 5_000

    var isWaiting: Bool { !waiting.isEmpty }
    var isUrgent: Bool { urgent > 0 }

    mutating func append(_ work: Work) {
      waiting.append(work)
      if !work.change.isPatient { urgent += 1 }
      patientUntil = min(patientUntil, MonotonicClock.now + Self.patience)
    }

    mutating func takeFirst() -> Work? {
      guard let work = waiting.popFirst() else { return nil }
      if !work.change.isPatient { urgent -= 1 }
      if waiting.isEmpty { patientUntil = .max }
      return work
    }
  }

  init(
    _ environment: Environment, _ tables: FrozenTables, _ settings: FrozenStoreSettings, records: Int,
    dropped: UInt64
  ) {
    self.environment = environment
    self.tables = tables
    self.settings = settings
    var first = Shared()
    first.statistics.records = records
    first.statistics.dropped = Int(clamping: dropped)
    shared = Inbox(first)
  }

  func start(_ meta: FrozenMeta) throws(NetworkError) {
    try shared.start(InboxCrew(name: "netspool-frozen") { [self] in FrozenStoreThread(self, meta).run() })
  }

  /// Writes what waits and ends the thread.
  func stop() {
    shared.close()
    shared.join()
  }

  /// False when it was closed; then the work was not taken.
  func submit(_ work: Work) -> Bool { shared.send { $0.append(work) } != nil }
}

// MARK: The map

extension FrozenStoreCore {
  func read<Result: Sendable>(
    _ body: (borrowing ReadTransaction) throws(StoreError) -> Result
  ) throws(NetworkError) -> Result {
    guard environment.isOurs else { throw NetworkError(.usedAfterFork) }
    return try mapUse.reading { () throws(NetworkError) in
      guard hasMap.load(ordering: .acquiring) else { throw NetworkError(.engineClosed) }
      do throws(StoreError) {
        let transaction = try environment.read()
        return try body(transaction)
      } catch {
        throw error.failure()
      }
    }
  }

  /// Waits until no reader is left; to be called before the environment is released.
  func endReading() { mapUse.changing { hasMap.store(false, ordering: .releasing) } }

  /// A sixteenth more than there was. On the store thread, outside transactions.
  func growMap() -> Bool {
    mapUse.changing {
      let bytes = environment.mapBytes + max(environment.mapBytes / 16, 1 << 20)
      return (try? environment.grow(to: bytes / environment.pageBytes * environment.pageBytes)) != nil
    }
  }
}
