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
  private var unwritten: [Shelf.Work] = []
  private var lastTouch = MonotonicClock.now
  private var lastCommit: Microseconds = 0
  private var lastReaderCheck = MonotonicClock.now
  private var isOverBudget = false

  private static let batchMax = 1_000
  private static let batchBytesMax = 8 << 20
  /// Where memory is short: LMDB holds all that a transaction writes, leaves of four trees for each change included.
  private static let smallBatchMax = 32
  private static let smallBatchBytesMax = 1 << 20
  /// Between two commits, unless much waits or somebody waits for one.
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
  private mutating func next() -> [Shelf.Work]? {
    while true {
      let deadline: Microseconds?
      let core = core
      switch core.shelf.withLock({ take(&$0) }) {
      case .work(let work): return work
      case .end: return nil
      case .gather(let until):
        _ = core.wakeUp.wait(until: until)
        core.shelf.withLock { ($0.isGathering, $0.isAsleep) = (false, false) }
        continue
      case .sleep(let until): deadline = until
      }
      guard let deadline else {
        core.wakeUp.wait()
        continue
      }
      if core.wakeUp.wait(until: deadline) { continue }
      core.shelf.withLock { $0.isAsleep = false }
      return []
    }
  }

  private enum Next {
    case work([Shelf.Work])
    case gather(until: Microseconds)
    case sleep(until: Microseconds?)
    case end
  }

  private mutating func take(_ shelf: inout Shelf) -> Next {
    if !shelf.waiting.isEmpty {
      let due = lastCommit + Self.gatheringPeriod
      if !shelf.hasGathered, MonotonicClock.now < due {
        shelf.isGathering = true
        shelf.isAsleep = true
        return .gather(until: due)
      }
      let waiting = shelf.takeWaiting()
      guard !unwritten.isEmpty else { return .work(waiting) }
      defer { unwritten = [] }
      return .work(unwritten + waiting)
    }
    if shelf.isClosing { return .end }
    if isOverBudget || shelf.touched.count >= Shelf.touchedMax { return .work([]) }
    shelf.isAsleep = true
    return .sleep(until: deadline(shelf))
  }

  /// When something is due that nobody signals.
  private func deadline(_ shelf: borrowing Shelf) -> Microseconds? {
    let now = MonotonicClock.now
    var due: [Microseconds] = []
    if let oldest = shelf.retired.first {
      due.append(max(oldest.began + core.settings.leaseMax, now + 10_000))
    }
    if shelf.current != nil || !unwritten.isEmpty { due.append(now + Self.tick) }
    if !shelf.touched.isEmpty { due.append(lastTouch + core.settings.recencyDelay) }
    return due.min()
  }

  // MARK: Writing

  private mutating func perform(_ work: [Shelf.Work]) {
    var index = 0
    repeat {
      let batch = nextBatch(of: work, from: &index)
      let touched = dueTouches()
      if !batch.isEmpty || !touched.isEmpty || isOverBudget { write(batch, touched) }
      if index < work.count { performSpecial(work[index], &index) }
    } while index < work.count
  }

  /// Changes from `index` on, up to the limits of a batch or to something that is no change.
  private func nextBatch(of work: [Shelf.Work], from index: inout Int) -> [PendingTable.Change] {
    let isSmall = core.settings.residentBytesMax != nil
    let countMax = isSmall ? Self.smallBatchMax : Self.batchMax
    let bytesMax = isSmall ? Self.smallBatchBytesMax : Self.batchBytesMax
    return core.shelf.withLock { shelf in
      var batch: [PendingTable.Change] = []
      var bytes = 0
      while index < work.count, batch.count < countMax, bytes < bytesMax {
        guard case .change(let key, let sequence) = work[index] else { break }
        index += 1
        guard let change = shelf.pending.change(key, sequence: sequence) else { continue }
        bytes += change.bytes
        batch.append(change)
      }
      return batch
    }
  }

  private mutating func performSpecial(_ work: Shelf.Work, _ index: inout Int) {
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
      if error.isDamage { core.environment.place.markSuspect() }
      dropPuts(batch)
    }
  }

  /// Whether the file would pass its limit. Before that is so, leases give up their places, however young.
  private func isFileFull(for batch: [PendingTable.Change]) -> Bool {
    if fits(batch) { return false }
    for snapshot in core.shelf.withLock({ $0.retired }) { _ = snapshot.copyOut() }
    return !fits(batch)
  }

  /// The batch must fit behind the file's end, or twice into what is free and seen by no snapshot of this
  /// process. A sixteenth is kept for removals, which write too.
  private func fits(_ batch: [PendingTable.Change]) -> Bool {
    let environment = core.environment
    let limit = core.settings.fileLimit
    let needed = batch.reduce(0) { $0 + $1.bytes + 2 * environment.pageBytes }
    if environment.fileBytes + needed <= limit - limit / 16 { return true }
    let oldest = core.shelf.withLock { shelf in
      shelf.forgetEnded()
      return shelf.retired.map(\.commit).min() ?? .max
    }
    guard let pages = try? environment.freePages(before: oldest) else { return false }
    return pages * environment.pageBytes >= 2 * needed
  }

  /// The disk or the file is full, or the store is broken: the puts are given up, and what stood under their
  /// keys goes too.
  private mutating func dropPuts(_ batch: [PendingTable.Change]) {
    core.shelf.withLock { shelf in
      for change in batch {
        if case .put = change.content { shelf.statistics.dropped += 1 }
        shelf.pending.turnIntoRemoval(change.key.digest, sequence: change.sequence)
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
    let callbacks = core.shelf.withLock { shelf -> [@Sendable () -> Void] in
      for change in batch { shelf.pending.settle(change.key.digest, sequence: change.sequence) }
      shelf.statistics.add(report)
      // Old pages are free to be used again only when no snapshot sees them.
      shelf.retireCurrent()
      guard shelf.pending.bytes <= core.settings.pendingBytesMuch else { return [] }
      defer { shelf.onRoom = [] }
      return shelf.onRoom
    }
    for callback in callbacks { callback() }
  }

  // MARK: Housekeeping

  private mutating func dueTouches() -> [KeyDigest] {
    let now = MonotonicClock.now
    let isDue = now - lastTouch >= core.settings.recencyDelay
    let touched = core.shelf.withLock { shelf -> [KeyDigest] in
      guard isDue || shelf.touched.count >= Shelf.touchedMax else { return [] }
      defer { shelf.touched.removeAll(keepingCapacity: true) }
      return shelf.touched
    }
    if isDue { lastTouch = now }
    return touched
  }

  private mutating func lookAfter() {
    let now = MonotonicClock.now
    let old = core.shelf.withLock { shelf -> [Snapshot] in
      if let current = shelf.current, !shelf.isCurrentUsed || current.commit != core.environment.newestCommit
      {
        shelf.retireCurrent()
      }
      shelf.isCurrentUsed = false
      shelf.forgetEnded()
      return shelf.retired.filter { now - $0.began >= core.settings.leaseMax }
    }
    for snapshot in old { _ = snapshot.copyOut() }
    if now - lastReaderCheck >= Self.readerCheckPeriod {
      lastReaderCheck = now
      core.environment.clearDeadReaders()
    }
  }

  private mutating func finish() {
    if !unwritten.isEmpty { perform(unwritten) }
    let touched = core.shelf.withLock { $0.touched }
    if !touched.isEmpty { write([], touched) }
    let lent = core.shelf.withLock { shelf in
      shelf.retireCurrent()
      return shelf.retired
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
