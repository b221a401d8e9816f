/// Repairs the tables before they are used, in one transaction: a new epoch, damaged rows set aside
/// one by one, and the tables that follow from `rec` made again when they do not.
///
/// There may be a million rows, and the caller that opens the store waits: `rec` is walked through once.
struct FrozenRecovery {
  let tables: FrozenTables
  /// Damaged files that were moved aside: which numbers were given in them is not known for certain.
  var earlierFiles = 0

  struct Report: Equatable {
    var meta = FrozenMeta()
    /// Numbers of requests that are dead letters now, because their bytes were not what was written.
    var damaged: [UInt64] = []
    var records = 0
  }

  /// Nil when a later release wrote here; then nothing is changed.
  func run(_ transaction: inout WriteTransaction, at now: ClockMoment) throws(StoreError) -> Report? {
    guard let rows = try look(transaction) else { return nil }
    var report = Report(meta: try nextMeta(highest: rows.highest, transaction), damaged: rows.damaged)
    for number in report.damaged { try setAside(number, now, &transaction) }
    let isConsistent = try isConsistent(transaction)
    if !report.damaged.isEmpty || !isConsistent { report.damaged += try rebuild(&transaction, now) }
    report.records = try transaction.size(of: tables.rec).records
    try transaction.put(report.meta.encode().rawBytes, at: RecordKey(ordered: 0), in: tables.meta)
    Failpoint.pass(.duringRecovery)
    return report
  }
}

// MARK: Numbers

extension FrozenRecovery {
  /// No number from here on was ever given, as files are 2^40 apart: such a key is not what was written.
  private static let numbersEnd: UInt64 = 1 << 62

  /// A number that may have been given is never given again: without the note of it, far beyond all seen.
  private func nextMeta(
    highest: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> FrozenMeta {
    let found = try transaction.bytes(0, in: tables.meta)
    let known = found.flatMap { FrozenMeta(decoding: $0.rawBytes) }
    var meta = known ?? FrozenMeta()
    let ended = try numbers(in: tables.outbox, transaction) + numbers(in: tables.dead, transaction)
    let highest = max(highest, ended.filter { $0 < Self.numbersEnd }.max() ?? 0)
    if highest >= meta.nextNumber || found != nil && known == nil { meta.nextNumber = highest + 1 << 32 }
    // Each file has numbers of its own, more than it could ever give.
    meta.nextNumber = max(meta.nextNumber, UInt64(earlierFiles) << 40 + 1)
    meta.epoch += 1
    return meta
  }
}

// MARK: Damage

extension FrozenRecovery {
  /// What a walk through `rec` finds; nil when a later release wrote there.
  private func look(
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> (highest: UInt64, damaged: [UInt64])? {
    var highest: UInt64 = 0
    var damaged: [UInt64] = []
    var isLater = false
    try transaction.forEach(in: tables.rec) { record in
      guard let number = record.number else { return true }
      if number < Self.numbersEnd { highest = max(highest, number) }
      if FrozenRow.isWhole(record.value, number) {
        isLater = FrozenRow.isLater(record.value)
      } else {
        damaged.append(number)
      }
      return !isLater
    }
    return isLater ? nil : (highest, damaged)
  }

  /// Keeps the bytes as a dead letter, for diagnosis.
  private func setAside(
    _ number: UInt64, _ now: ClockMoment, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    let key = RecordKey(ordered: number)
    let bytes = try transaction.bytes(at: key, in: tables.rec) ?? []
    let ending = FrozenEnding(endedAt: now, isDamaged: true, payload: bytes)
    try transaction.put(ending.encode(number).rawBytes, at: key, in: tables.dead)
    try transaction.remove(at: key, in: tables.rec)
  }

  private func isConsistent(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Bool {
    let records = try transaction.size(of: tables.rec).records
    let bodies = try transaction.size(of: tables.body).records
    let dedupes = try transaction.size(of: tables.dedupe).records
    return bodies == records && dedupes <= records
  }

  /// Dedupe keys follow from the rows; a row without a body is damaged, and a body without a row is a dead letter's: where
  /// there is none, the row was on a page that is gone, and all that is known is its number.
  private func rebuild(
    _ transaction: inout WriteTransaction, _ now: ClockMoment
  ) throws(StoreError) -> [UInt64] {
    let rows = try Set(numbers(in: tables.rec, transaction))
    let bodies = try Set(numbers(in: tables.body, transaction))
    let bodiless = rows.subtracting(bodies).sorted()
    for number in bodiless { try setAside(number, now, &transaction) }
    let ended = try Set(numbers(in: tables.dead, transaction) + numbers(in: tables.outbox, transaction))
    let rowless = bodies.subtracting(rows)
    let lost = rowless.subtracting(ended).sorted()
    for number in lost { try setAside(number, now, &transaction) }
    for number in rowless { try keepBody(number, &transaction) }
    let whole = rows.intersection(bodies)
    try removeStrayDedupes(&transaction) { whole.contains($0) }
    return bodiless + lost
  }

  private func numbers(
    in table: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UInt64] {
    var numbers: [UInt64] = []
    try transaction.forEach(in: table) { record in
      if let number = record.number { numbers.append(number) }
      return true
    }
    return numbers
  }

  /// The body of a request that is a dead letter now, under a checksum that says nothing: it is for the eye only.
  private func keepBody(_ number: UInt64, _ transaction: inout WriteTransaction) throws(StoreError) {
    let key = RecordKey(ordered: number)
    var kept: [UInt8] = []
    kept.append(integer: UInt64(0))
    kept += try transaction.bytes(at: key, in: tables.body) ?? []
    try transaction.put(kept.rawBytes, at: key, in: tables.remains)
    try transaction.remove(at: key, in: tables.body)
  }

  private func removeStrayDedupes(
    _ transaction: inout WriteTransaction, isThere: (UInt64) -> Bool
  ) throws(StoreError) {
    var stray: [KeyDigest] = []
    try transaction.forEach(in: tables.dedupe) { record in
      let number = record.value.byteCount >= 8 ? record.value.integer(at: 0, as: UInt64.self) : 0
      if let key = KeyDigest(record.key), !isThere(number) { stray.append(key) }
      return true
    }
    for key in stray { try transaction.remove(at: key.recordKey, in: tables.dedupe) }
  }
}

/// Takes what is still whole out of damaged files that were moved aside, before anybody uses the new one. Nothing is
/// judged here: `FrozenRecovery` does that, as with every row.
struct FrozenSalvage {
  let environment: Environment
  let tables: FrozenTables

  struct Report {
    /// Rows that were found: requests, outcomes and dead letters.
    var found = 0
    /// What was found may be one commit old: what waits may have been sent since.
    var isDoubtful = false
  }

  private typealias Row = (table: Database, key: RecordKey, value: [UInt8])

  /// Bytes that are written in one transaction.
  private static let batchBytes = 8 << 20

  /// A process that is killed here leaves the files unread, and the next one begins again: rows that are there stay.
  func run() throws(StoreError) -> Report {
    var report = Report()
    for name in environment.directory.unreadNames {
      guard let data = try? environment.directory.openUnread(name) else { continue }
      try read(TreeSalvage(data), &report)
      environment.directory.didRead(name)
    }
    return report
  }

  private func read(_ salvage: TreeSalvage, _ report: inout Report) throws(StoreError) {
    var batch: [Row] = []
    var bytes = 0
    var failure: StoreError?
    let isNewest = salvage.forEach { name, key, value in
      guard failure == nil, let row = row(name, key, value) else { return }
      if [tables.rec, tables.outbox, tables.dead].contains(row.table) { report.found += 1 }
      batch.append(row)
      bytes += row.value.count
      guard bytes >= Self.batchBytes else { return }
      do throws(StoreError) { try write(batch) } catch { failure = error }
      batch = []
      bytes = 0
    }
    if let failure { throw failure }
    try write(batch)
    if !isNewest { report.isDoubtful = true }
  }

  private func row(_ name: String, _ key: RawSpan, _ value: RawSpan) -> Row? {
    let recordKey: RecordKey? =
      key.byteCount == 8 ? RecordKey(ordered: key.bigEndian(at: 0)) : KeyDigest(key)?.recordKey
    guard let table = tables.all[name], let recordKey else { return nil }
    return (table, recordKey, [UInt8](value))
  }

  private func write(_ rows: [Row]) throws(StoreError) {
    guard !rows.isEmpty else { return }
    try environment.write { transaction throws(StoreError) in
      for row in rows where try transaction.value(at: row.key, in: row.table) == nil {
        try transaction.put(row.value.rawBytes, at: row.key, in: row.table)
      }
    }
  }
}
