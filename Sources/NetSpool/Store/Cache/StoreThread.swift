internal import Synchronization

/// The one thread that writes: it takes all that waits, commits it in batches, and sleeps.
///
/// A batch is what came while the batch before was written and for a few milliseconds afterwards. So one put on
/// an idle store is committed at once, and many that follow each other share a commit, whose own pages cost as
/// much as several bodies.
struct StoreThread: ~Copyable {
  private let core: CacheStoreCore
  private var writer: CacheWriter
  /// What could not be written; tried again with the next batch, or after a second.
  private var unwritten: [CacheSharedState.Work] = []
  private var lastTouch = MonotonicClock.now
  private var lastCommit: Microseconds = 0
  private var lastReaderCheck = MonotonicClock.now
  private var isOverBudget = false

  private static let batchMax = 1_000
  private static let batchBytesMax = 8 << 20
  /// Where memory is short: LMDB holds all that a transaction writes, leaves of four trees for each change included.
  private static let smallBatchMax = 32
  private static let smallBatchBytesMax = 1 << 20
  /// The time between two commits, unless much waits or a caller waits for one.
  private static let gatheringPeriod: Microseconds = 5_000
  private static let tick: Microseconds = 1_000_000
  private static let readerCheckPeriod: Microseconds = 60_000_000

  init(_ core: CacheStoreCore) {
    self.core = core
    writer = CacheWriter(core)
  }

  consuming func run() {
    while let work = next() {
      perform(work)
      lookAfter()
    }
    finish()
  }

  // MARK: Waiting

  /// What waits now, which may be nothing when something else is due; nil at the end.
  private mutating func next() -> [CacheSharedState.Work]? {
    while true {
      let deadline: Microseconds?
      let core = core
      switch core.shared.withLock({ take(&$0) }) {
      case .work(let work): return work
      case .end: return nil
      case .gather(let until):
        _ = core.wakeUp.wait(until: until)
        core.shared.withLock { ($0.isGathering, $0.isAsleep) = (false, false) }
        continue
      case .sleep(let until): deadline = until
      }
      guard let deadline else {
        core.wakeUp.wait()
        continue
      }
      if core.wakeUp.wait(until: deadline) { continue }
      core.shared.withLock { $0.isAsleep = false }
      return []
    }
  }

  private enum Next {
    case work([CacheSharedState.Work])
    case gather(until: Microseconds)
    case sleep(until: Microseconds?)
    case end
  }

  private mutating func take(_ shared: inout CacheSharedState) -> Next {
    if !shared.waiting.isEmpty {
      let due = lastCommit + Self.gatheringPeriod
      if !shared.hasGathered, MonotonicClock.now < due {
        shared.isGathering = true
        shared.isAsleep = true
        return .gather(until: due)
      }
      let waiting = shared.takeWaiting()
      guard !unwritten.isEmpty else { return .work(waiting) }
      defer { unwritten = [] }
      return .work(unwritten + waiting)
    }
    if shared.isClosing { return .end }
    if isOverBudget || shared.touched.count >= CacheSharedState.touchedMax { return .work([]) }
    shared.isAsleep = true
    return .sleep(until: deadline(shared))
  }

  /// The moment at which something is due that no signal announces.
  private func deadline(_ shared: borrowing CacheSharedState) -> Microseconds? {
    let now = MonotonicClock.now
    var due: [Microseconds] = []
    if let oldest = shared.retired.first {
      due.append(max(oldest.began + core.settings.leaseMax, now + 10_000))
    }
    if shared.current != nil || !unwritten.isEmpty { due.append(now + Self.tick) }
    if !shared.touched.isEmpty { due.append(lastTouch + core.settings.recencyDelay) }
    return due.min()
  }

  // MARK: Writing

  private mutating func perform(_ work: [CacheSharedState.Work]) {
    var index = 0
    repeat {
      let batch = nextBatch(of: work, from: &index)
      let touched = dueTouches()
      if !batch.isEmpty || !touched.isEmpty || isOverBudget { write(batch, touched) }
      if index < work.count { performSpecial(work[index], &index) }
    } while index < work.count
  }

  /// Changes from `index` on, up to the limits of a batch or to something that is no change.
  private func nextBatch(of work: [CacheSharedState.Work], from index: inout Int) -> [PendingTable.Change] {
    let isSmall = core.settings.residentBytesMax != nil
    let countMax = isSmall ? Self.smallBatchMax : Self.batchMax
    let bytesMax = isSmall ? Self.smallBatchBytesMax : Self.batchBytesMax
    return core.shared.withLock { shared in
      var batch: [PendingTable.Change] = []
      var bytes = 0
      while index < work.count, batch.count < countMax, bytes < bytesMax {
        guard case .change(let key, let sequence) = work[index] else { break }
        index += 1
        guard let change = shared.pending.change(key, sequence: sequence) else { continue }
        bytes += change.bytes
        batch.append(change)
      }
      return batch
    }
  }

  private mutating func performSpecial(_ work: CacheSharedState.Work, _ index: inout Int) {
    switch work {
    case .change: return
    case .flush(let waiter): waiter.signal()
    case .removeAll(let namespace, let matches, let waiter):
      removeAll(namespace, matches)
      waiter.signal()
    }
    index += 1
  }

  private mutating func removeAll(_ namespace: String, _ matches: KeyMatch?) {
    var start: KeyDigest?
    while true {
      guard
        let (progress, report) = try? writer.removeSome(
          namespace: namespace, matches: matches, from: start)
      else { return }
      didCommit([], report)
      guard case .from(let key) = progress else { return }
      start = key
    }
  }

  private mutating func write(_ batch: [PendingTable.Change], _ touched: [KeyDigest]) {
    if isFileFull(for: batch) { return dropPuts(batch) }
    do throws(StoreError) {
      didCommit(batch, try writer.write(batch, touched: touched))
    } catch {
      // Damage that the checks at the start could not see: the next start sees the mark.
      if error.isDamage { core.environment.directory.markSuspect() }
      dropPuts(batch)
    }
  }

  /// Whether the file would pass its limit. Before that is so, leases give up their places, however young.
  private func isFileFull(for batch: [PendingTable.Change]) -> Bool {
    if fits(batch) { return false }
    for snapshot in core.shared.withLock({ $0.retired }) { _ = snapshot.copyOut() }
    return !fits(batch)
  }

  /// The batch must fit behind the file's end, or twice into what is free and seen by no snapshot of this
  /// process. A sixteenth is kept for removals, which write too.
  private func fits(_ batch: [PendingTable.Change]) -> Bool {
    let environment = core.environment
    let limit = core.settings.fileLimit
    let needed = batch.reduce(0) { $0 + $1.bytes + 2 * environment.pageBytes }
    if environment.fileBytes + needed <= limit - limit / 16 { return true }
    let oldest = core.shared.withLock { shared in
      shared.forgetEnded()
      return shared.retired.map(\.commit).min() ?? .max
    }
    guard let pages = try? environment.freePages(before: oldest) else { return false }
    return pages * environment.pageBytes >= 2 * needed
  }

  /// The disk or the file is full, or the store is broken: the puts are given up, and what stood under their
  /// keys goes too.
  private mutating func dropPuts(_ batch: [PendingTable.Change]) {
    core.shared.withLock { shared in
      for change in batch {
        if case .put = change.content { shared.statistics.dropped += 1 }
        shared.pending.turnIntoRemoval(change.key.digest, sequence: change.sequence)
      }
    }
    let removals = batch.map { PendingTable.Change(sequence: $0.sequence, key: $0.key, content: .removed) }
    guard let report = try? writer.write(removals, touched: []) else {
      unwritten += batch.map { .change($0.key.digest, sequence: $0.sequence) }
      isOverBudget = false
      return
    }
    didCommit(removals, report)
  }

  private mutating func didCommit(_ batch: [PendingTable.Change], _ report: BatchReport) {
    isOverBudget = report.isOverBudget
    lastCommit = MonotonicClock.now
    let callbacks = core.shared.withLock { shared -> [@Sendable () -> Void] in
      for change in batch { shared.pending.didCommit(change.key.digest, sequence: change.sequence) }
      shared.statistics.add(report)
      // Old pages are free to be used again only when no snapshot sees them.
      shared.retireCurrent()
      guard shared.pending.bytes <= core.settings.pendingBytesMuch else { return [] }
      defer { shared.onRoom = [] }
      return shared.onRoom
    }
    for callback in callbacks { callback() }
  }

  // MARK: Housekeeping

  private mutating func dueTouches() -> [KeyDigest] {
    let now = MonotonicClock.now
    let isDue = now - lastTouch >= core.settings.recencyDelay
    let touched = core.shared.withLock { shared -> [KeyDigest] in
      guard isDue || shared.touched.count >= CacheSharedState.touchedMax else { return [] }
      defer { shared.touched.removeAll(keepingCapacity: true) }
      return shared.touched
    }
    if isDue { lastTouch = now }
    return touched
  }

  private mutating func lookAfter() {
    let now = MonotonicClock.now
    let old = core.shared.withLock { shared -> [Snapshot] in
      if let current = shared.current,
        !shared.isCurrentUsed || current.commit != core.environment.newestCommit
      {
        shared.retireCurrent()
      }
      shared.isCurrentUsed = false
      shared.forgetEnded()
      return shared.retired.filter { now - $0.began >= core.settings.leaseMax }
    }
    for snapshot in old { _ = snapshot.copyOut() }
    if now - lastReaderCheck >= Self.readerCheckPeriod {
      lastReaderCheck = now
      core.environment.clearDeadReaders()
    }
  }

  private mutating func finish() {
    if !unwritten.isEmpty { perform(unwritten) }
    let touched = core.shared.withLock { $0.touched }
    if !touched.isEmpty { write([], touched) }
    let lent = core.shared.withLock { shared in
      shared.retireCurrent()
      return shared.retired
    }
    for snapshot in lent { _ = snapshot.copyOut() }
  }
}

extension CacheStatistics {
  mutating func add(_ report: BatchReport) {
    puts += report.puts
    evictions += report.evictions
    dropped += report.dropped
    damaged += report.damaged
    entries = report.entries
    bytes = report.bytes
    commits += 1
  }
}

/// One thread waits for another, once.
final class Waiter: Sendable {
  private let semaphore = SystemSemaphore()

  func signal() { semaphore.signal() }
  func wait() { semaphore.wait() }
}
