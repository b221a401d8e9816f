internal import Synchronization

/// The one thread that writes: it takes all that waits, commits it in batches, and sleeps.
///
/// A batch is what came while the batch before was written and for a few milliseconds afterwards. So one put on
/// an idle store is committed at once, and many that follow each other share a commit, whose own pages cost as
/// much as several bodies.
struct StoreThread: ~Copyable {
  let core: CacheStoreCore
  var writer: CacheWriter
  /// What could not be written; tried again with the next batch, but not before `retryAt`.
  private var unwritten: [CacheSharedState.Work] = []
  private var retryAt: Microseconds = 0
  /// Removing entries has made no room; not tried again before.
  var roomlessUntil: Microseconds = 0
  private var lastTouch = MonotonicClock.now
  /// When the view of lookups is to be looked at, if they have one: one that is not used ends.
  private var viewDue: Microseconds?
  private var lastCommit: Microseconds = 0
  private var lastReaderCheck = MonotonicClock.now
  private var lastPressureLook = MonotonicClock.now
  private var isOverBudget = false
  /// Removals whose entries are still to be taken out.
  private var sweeps: [CacheWriter.Sweep] = []
  private var sweepAt: Microseconds = 0

  private static let batchMax = 1_000
  private static let batchBytesMax = 8 << 20
  /// Where memory is short: LMDB holds all that a transaction writes, leaves of four trees for each change included.
  private static let smallBatchMax = 32
  private static let smallBatchBytesMax = 1 << 20
  /// The time between two commits, unless much waits or a caller waits for one.
  private static let gatheringPeriod: Microseconds = 5_000
  private static let tick: Microseconds = 1_000_000
  private static let readerCheckPeriod: Microseconds = 60_000_000
  /// How long a store that refused to be written is left alone: one that another process keeps, and one that is full.
  private static let busyPeriod: Microseconds = 5_000_000
  static let fullPeriod: Microseconds = 1_000_000

  init(_ core: CacheStoreCore) {
    self.core = core
    writer = CacheWriter(core)
  }

  consuming func run() {
    try? writer.removeLostFiles()
    while let work = next() {
      perform(work)
      sweep()
      lookAfter()
    }
    finish()
  }

  // MARK: Waiting

  /// What waits now, which may be nothing when something else is due; nil at the end.
  private mutating func next() -> [CacheSharedState.Work]? {
    let core = core
    return core.shared.next { take(&$0, $1) }
  }

  /// What is to be tried once more, if it is time or a caller waits.
  private mutating func takeUnwritten(atOnce: Bool = false) -> [CacheSharedState.Work] {
    guard !unwritten.isEmpty, atOnce || MonotonicClock.now >= retryAt else { return [] }
    defer { unwritten = [] }
    return unwritten
  }

  private mutating func take(
    _ shared: inout CacheSharedState, _ look: CacheStoreCore.Look
  ) -> Inbox<CacheSharedState>.Step<[CacheSharedState.Work]> {
    let wasGathering = shared.isGathering
    shared.isGathering = false
    if shared.hasNewView {
      shared.hasNewView = false
      viewDue = MonotonicClock.now + Self.tick
    }
    if !shared.waiting.isEmpty, mayWrite(shared, look) {
      let due = lastCommit + Self.gatheringPeriod
      if !shared.hasGathered, !look.isClosed, MonotonicClock.now < due {
        shared.isGathering = true
        return .sleep(until: due)
      }
      return .take(takeUnwritten(atOnce: shared.isUrgent) + shared.takeWaiting())
    }
    if look.isClosed { return .end }
    if isOverBudget || shared.touched.count >= CacheSharedState.touchedMax { return .take([]) }
    if !sweeps.isEmpty, MonotonicClock.now >= sweepAt { return .take([]) }
    if look.isLate, !wasGathering { return .take(takeUnwritten()) }
    return .sleep(until: deadline(shared) ?? .max)
  }

  /// A store that refused is left alone for a while, unless a caller waits or it is closing.
  private func mayWrite(_ shared: borrowing CacheSharedState, _ look: CacheStoreCore.Look) -> Bool {
    unwritten.isEmpty || shared.isUrgent || look.isClosed || MonotonicClock.now >= retryAt
  }

  /// The moment at which something is due that no signal announces.
  private func deadline(_ shared: borrowing CacheSharedState) -> Microseconds? {
    let now = MonotonicClock.now
    var due: [Microseconds] = []
    if let viewDue { due.append(viewDue) }
    if !unwritten.isEmpty { due.append(max(retryAt, now + 10_000)) }
    if !sweeps.isEmpty { due.append(sweepAt) }
    if core.mappedPages.mayHoldSome { due.append(max(lastPressureLook + Self.tick, now + 10_000)) }
    if !shared.touched.isEmpty { due.append(lastTouch + core.settings.recencyDelay) }
    return due.min()
  }

  // MARK: Writing

  private mutating func perform(_ work: [CacheSharedState.Work]) {
    var index = 0
    repeat {
      var finished: [Claim] = []
      let batch = nextBatch(of: work, from: &index, &finished)
      let touched = dueTouches()
      if !batch.isEmpty || !touched.isEmpty || isOverBudget { write(batch, touched) }
      for claim in finished { claim.finish() }
      if index < work.count { performSpecial(work[index], &index) }
    } while index < work.count
  }

  /// Changes from `index` on, up to the limits of a batch or to something that is no change, and claims that wait for them.
  private func nextBatch(
    of work: [CacheSharedState.Work], from index: inout Int, _ finished: inout [Claim]
  ) -> [PendingTable.Change] {
    let isSmall = core.settings.residentBytesMax != nil
    let countMax = isSmall ? Self.smallBatchMax : Self.batchMax
    let bytesMax = min(isSmall ? Self.smallBatchBytesMax : Self.batchBytesMax, writer.batchBytesMax)
    return core.shared.withLock { shared in
      var batch: [PendingTable.Change] = []
      var bytes = 0
      while index < work.count, batch.count < countMax, bytes < bytesMax {
        switch work[index] {
        case .finish(let claim): finished.append(claim)
        case .change(let key, let sequence):
          guard let change = shared.pending.change(key, sequence: sequence) else { break }
          bytes += change.bytes
          batch.append(change)
        case .removeAll, .flush: return batch
        }
        index += 1
      }
      return batch
    }
  }

  private mutating func performSpecial(_ work: CacheSharedState.Work, _ index: inout Int) {
    switch work {
    case .change, .finish: return
    case .flush(let done): done()
    case .removeAll(let removal):
      do throws(StoreError) {
        // Behind what waits, which may be what it removes.
        if unwritten.isEmpty { try removeAll(removal) } else { unwritten.append(work) }
      } catch {
        // Nobody finds what it means meanwhile. There is no use in waiting for a disk that is full or broken.
        if !error.isBusy { removal.waiter.signal() }
        postpone([], after: error)
        unwritten.append(work)
      }
    }
    index += 1
  }

  private mutating func removeAll(_ removal: PendingRemoval) throws(StoreError) {
    while let oldest = sweeps.first, sweeps.count >= Removal.countMax { try goOn(oldest) }
    let (left, report) = try writer.remove(namespace: removal.namespace, pattern: removal.pattern)
    if let left { sweeps.append(left) }
    core.shared.withLock { $0.removals.end(removal) }
    didCommit([], report)
    removal.waiter.signal()
  }

  /// Takes out a little of what was removed; no caller waits for it. What is left at the end of the process, the next one
  /// goes on with.
  private mutating func sweep() {
    guard let oldest = sweeps.first, MonotonicClock.now >= sweepAt else { return }
    do throws(StoreError) {
      try goOn(oldest)
    } catch {
      sweepAt = MonotonicClock.now + (error.isBusy ? Self.busyPeriod : Self.fullPeriod)
    }
  }

  private mutating func goOn(_ oldest: CacheWriter.Sweep) throws(StoreError) {
    let (left, report) = try writer.sweep(oldest)
    if let left { sweeps[0] = left } else { sweeps.removeFirst() }
    didCommit([], report)
  }

  private mutating func write(_ batch: [PendingTable.Change], _ touched: [KeyDigest]) {
    writer.quotas = core.shared.withLock { $0.quotas }
    do throws(StoreError) {
      if !fits(batch) {
        if isTooMuchAtOnce(batch) { return writeHalves(batch, touched) }
        try makeRoom(for: batch)
      }
      guard fits(batch) else { return dropPuts(batch) }
      do throws(StoreError) {
        didCommit(batch, try writer.write(batch, touched: touched))
      } catch  where error.isFull {
        try writeInRoom(batch, touched)
      }
    } catch {
      if error.isBusy { return postpone(batch, after: error) }
      // Damage that the checks at the start could not see: the next start sees the mark.
      if error.isDamage { core.environment.directory.markSuspect() }
      dropPuts(batch)
    }
  }

  /// Enough pages were free, but a long body needs them in a row: more go, and then each half has a try of its own.
  private mutating func writeInRoom(_ batch: [PendingTable.Change], _ touched: [KeyDigest]) throws(StoreError)
  {
    try makeRoom(for: batch, apart: true)
    do throws(StoreError) {
      didCommit(batch, try writer.write(batch, touched: touched))
    } catch  where error.isFull && batch.count > 1 {
      writeHalves(batch, touched)
    }
  }

  private mutating func writeHalves(_ batch: [PendingTable.Change], _ touched: [KeyDigest]) {
    write(Array(batch[..<(batch.count / 2)]), touched)
    write(Array(batch[(batch.count / 2)...]), [])
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
    let removals = batch.map { change in
      if case .fence = change.content { return change }
      return PendingTable.Change(sequence: change.sequence, key: change.key, content: .removed)
    }
    do throws(StoreError) {
      didCommit(removals, try writer.write(removals, touched: []))
    } catch {
      postpone(removals, after: error)
    }
  }

  /// Nothing can be written now. What waits stays in the table, where lookups see it.
  private mutating func postpone(_ batch: [PendingTable.Change], after error: StoreError) {
    unwritten += batch.map { .change($0.key.digest, sequence: $0.sequence) }
    retryAt = MonotonicClock.now + (error.isBusy ? Self.busyPeriod : Self.fullPeriod)
    isOverBudget = false
    // Nobody waits for what may take long to be stored.
    let finished = core.shared.withLock { shared in
      shared.statistics.state = error.isBusy ? .busy : .failed
      return shared.takeFinished()
    }
    for claim in finished { claim.finish() }
  }

  mutating func didCommit(_ batch: [PendingTable.Change], _ report: BatchReport) {
    isOverBudget = report.isOverBudget
    if let number = report.abandoned, !sweeps.contains(where: { $0.number == number }) {
      sweeps.append(CacheWriter.Sweep(number: number))
    }
    lastCommit = MonotonicClock.now
    // The next process, too, shall have it.
    _ = core.environment.reserveSpare()
    core.shared.withLock { shared in
      for change in batch { shared.pending.didCommit(change.key.digest, sequence: change.sequence) }
      shared.statistics.add(report)
      shared.bytesUntilUsesCount = report.evictions > 0 ? 0 : report.bytesUntilUsesCount
      core.noteRoom(shared)
      shared.statistics.state = .open
    }
    // What could not be written before may be now.
    if !unwritten.isEmpty { retryAt = 0 }
    // Old pages are free to be used again only when no snapshot sees them.
    core.views.withLock { $0.retireCurrent() }
  }

  // MARK: Housekeeping

  private mutating func dueTouches() -> [KeyDigest] {
    let now = MonotonicClock.now
    let isDue = now - lastTouch >= core.settings.recencyDelay
    let touched = core.shared.withLock { shared -> [KeyDigest] in
      // What is about to be removed is what was used least recently, as of now.
      guard isDue || shared.doesEveryUseCount || shared.touched.count >= CacheSharedState.touchedMax else {
        return []
      }
      defer { shared.touched.removeAll(keepingCapacity: true) }
      return Array(shared.touched)
    }
    if isDue { lastTouch = now }
    return touched
  }

  private mutating func lookAfter() {
    let now = MonotonicClock.now
    let hasView = core.views.withLock { views in
      if let current = views.current,
        !views.isCurrentUsed || current.commit != core.environment.newestCommit
      {
        views.retireCurrent()
      }
      views.isCurrentUsed = false
      return views.current != nil
    }
    viewDue = hasView ? now + Self.tick : nil
    if now - lastPressureLook >= Self.tick {
      lastPressureLook = now
      if MemoryPressure.isHigh(core.settings.pressurePath) {
        // What comes from the file is in the page cache or can be read again.
        core.mappedPages.giveBack()
        FreeMemory.giveBack()
      }
    }
    if now - lastReaderCheck >= Self.readerCheckPeriod {
      lastReaderCheck = now
      if core.environment.clearDeadReaders() > 0 { try? writer.removeLostFiles() }
    }
  }

  private mutating func finish() {
    let last = takeUnwritten(atOnce: true)
    if !last.isEmpty {
      perform(last)
      for case .removeAll(let removal) in unwritten { removal.waiter.signal() }
    }
    let touched = Array(core.shared.withLock { $0.touched })
    if !touched.isEmpty { write([], touched) }
    core.views.withLock { $0.retireCurrent() }
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
    fileBytes = report.fileBytes
    commits += 1
  }
}
