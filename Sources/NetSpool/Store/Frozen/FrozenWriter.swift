internal import Synchronization

/// Makes changes to the tables, as many as are given in one transaction, on the thread that asks for it, and says what
/// becomes of each when the disk refuses. One thread at a time.
struct FrozenWriter: ~Copyable {
  private let core: FrozenStoreCore
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  /// As it was at the last commit.
  private var meta: FrozenMeta
  /// As it will be at the next one.
  var nextMeta = FrozenMeta()
  /// Bytes that may be accepted before it must be counted again how many are in use.
  var room = 0

  init(_ core: FrozenStoreCore, _ meta: FrozenMeta) {
    (self.core, self.meta) = (core, meta)
    (environment, tables, settings) = (core.environment, core.tables, core.settings)
  }

  /// The number of bytes from which nothing is accepted; the rest is for outcomes, which need room before they give
  /// it back.
  var acceptedBytesMax: Int { settings.bytesMax / 100 * 85 }

  /// Writes all in one commit, and one by one where that fails. Nil for those that the disk will take once it has room.
  mutating func commit(_ changes: [FrozenChange]) -> [FrozenAnswer?] {
    if let failure = core.shared.withLock({ $0.failure }) { return changes.map { _ in .failure(failure) } }
    do throws(StoreError) {
      return try write(changes)
    } catch {
      let trouble = FrozenTrouble(error, freeBytes: environment.freeDiskBytes)
      if trouble == .broken { return fail(changes, error) }
      if changes.count == 1 { return [meet(trouble, error, changes[0])] }
      // One that is too large must not take the others with it.
      var answers: [FrozenAnswer?] = []
      for change in changes { answers += commit([change]) }
      return answers
    }
  }

  private mutating func meet(
    _ trouble: FrozenTrouble, _ error: StoreError, _ change: FrozenChange
  ) -> FrozenAnswer? {
    if trouble == .mapFull, change.isAcceptance {
      return .failure(NetworkError(.queueFull, cause: .frozenBytes, underlying: error.underlying))
    }
    if trouble == .mapFull, core.growMap() {
      core.shared.withLock { $0.statistics.growths += 1 }
      return commit([change])[0]
    }
    guard change.mayFail else { return nil }
    let free = environment.freeDiskBytes.map { "\($0) bytes free" }
    return .failure(error.failure(.storageFull, reason: free))
  }

  private func fail(_ changes: [FrozenChange], _ error: StoreError) -> [FrozenAnswer?] {
    if error.isDamage { environment.directory.markSuspect() }
    let failure = error.failure(.storeFailed, reason: "commit")
    core.shared.withLock { $0.failure = failure }
    return changes.map { _ in .failure(failure) }
  }

  /// Writes all changes in one transaction. What it throws has changed nothing; a change that is refused alone
  /// has its failure for a result, and the others are written.
  private mutating func write(_ changes: [FrozenChange]) throws(StoreError) -> [FrozenAnswer] {
    settings.onDisk?()
    nextMeta = meta
    room = 0
    var transaction = try WriteTransaction(environment)
    var results: [FrozenAnswer] = []
    results.reserveCapacity(changes.count)
    for change in changes { results.append(try apply(change, &transaction)) }
    if nextMeta != meta {
      try transaction.put(nextMeta.encode().rawBytes, at: RecordKey(ordered: 0), in: tables.meta)
    }
    let records = try transaction.size(of: tables.rec).records
    let bytes = try tables.usedPages(transaction) * environment.pageBytes
    for case let place? in changes.map({ $0.failpoints.before }) { Failpoint.pass(place) }
    try transaction.commit()
    for case let place? in changes.map({ $0.failpoints.after }) { Failpoint.pass(place) }
    meta = nextMeta
    let dropped = Int(clamping: meta.dropped)
    core.shared.withLock { shared in
      shared.statistics.records = records
      shared.statistics.bytes = bytes
      shared.statistics.dropped = dropped
      shared.statistics.commits += 1
      shared.statistics.changes += changes.count
    }
    return results
  }

  private mutating func apply(
    _ change: FrozenChange, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    if !change.isAcceptance { room = 0 }
    switch change {
    case .accept(let row, let body): return try accept(row, body, &transaction)
    case .attempt(let number, let payload): return try attempt(number, payload, &transaction)
    case .postpone(let number, let payload): return try postpone(number, payload, &transaction)
    case .finish(let number, let ending): return try finish(number, ending, &transaction)
    case .deadLetter(let number, let ending, let keepsBody):
      return try makeDeadLetter(number, ending, keepsBody, &transaction)
    case .revive(let number, let row): return try revive(number, row, &transaction)
    case .sweep(let now): return .success(try sweep(at: now, &transaction))
    case .amend(let number, let ending): try amend(number, ending, &transaction)
    case .acknowledge(let number): try remove(number, [tables.outbox], &transaction)
    case .discard(let number): try remove(number, [tables.dead, tables.remains], &transaction)
    }
    return .success(FrozenReceipt())
  }

  func put(
    _ value: [UInt8], _ number: UInt64, _ table: Database, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    try transaction.put(value.rawBytes, at: RecordKey(ordered: number), in: table)
  }

  func remove(
    _ number: UInt64, _ tables: [Database], _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    for table in tables { try transaction.remove(at: RecordKey(ordered: number), in: table) }
  }
}

// MARK: What nobody came for

extension FrozenWriter {
  /// The number of rows of a table that go at a time.
  private static let sweepMax = 2_000

  /// Takes out what is too old or too much, the oldest first, and counts it.
  mutating func sweep(
    at now: ClockMoment, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenReceipt {
    var receipt = FrozenReceipt()
    for (table, others) in [(tables.outbox, []), (tables.dead, [tables.remains])] {
      let numbers = try findWorn(in: table, at: now, transaction)
      for number in numbers { try remove(number, [table] + others, &transaction) }
      nextMeta.dropped += UInt64(numbers.count)
      receipt.removed += numbers
      if numbers.count == Self.sweepMax { receipt.hasLeftSome = true }
    }
    return receipt
  }

  /// An ending that cannot be read, or only by a later release, goes no sooner than there is too much.
  private func findWorn(
    in table: Database, at now: ClockMoment, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UInt64] {
    var worn: [UInt64] = []
    var tooMany = max(0, try transaction.size(of: table).records - settings.keptRowsMax)
    try transaction.forEach(in: table) { record in
      guard let number = record.number else { return true }
      let ending = FrozenEnding(number, decoding: record.value)
      let isOld = ending.map { $0.age(at: now) > settings.keptMax } ?? false
      if isOld || tooMany > 0 { worn.append(number) }
      tooMany -= 1
      return worn.count < Self.sweepMax
    }
    return worn
  }
}

extension Record {
  /// A key that is a request's number.
  var number: UInt64? { key.byteCount == 8 ? key.bigEndian(at: 0) : nil }
}
