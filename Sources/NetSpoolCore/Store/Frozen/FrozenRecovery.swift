/// What is done to the tables before anybody uses them, in one transaction: a new epoch, damaged rows set aside
/// one by one, and the tables that follow from `rec` made again when they do not.
struct FrozenRecovery {
  let tables: FrozenTables

  struct Report: Equatable {
    var meta = FrozenMeta()
    /// Numbers of requests that are dead letters now, because their bytes were not what was written.
    var damaged: [UInt64] = []
    var records = 0
  }

  /// Whether a later release wrote here. Asked before anything is changed.
  func isFromLater(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Bool {
    var isLater = false
    try transaction.forEach(in: tables.rec) { record in
      guard let number = record.number, FrozenRow.isWhole(record.value, number) else { return true }
      isLater = FrozenRow.isLater(record.value)
      return !isLater
    }
    return isLater
  }

  func run(_ transaction: inout WriteTransaction, nowWall: Int64) throws(StoreError) -> Report {
    var report = Report()
    report.meta = try nextMeta(transaction)
    report.damaged = try findDamaged(transaction)
    for number in report.damaged { try setAside(number, nowWall, &transaction) }
    let isConsistent = try isConsistent(transaction)
    if !report.damaged.isEmpty || !isConsistent {
      report.damaged += try rebuild(&transaction, nowWall)
    }
    report.records = try transaction.size(of: tables.rec).records
    try transaction.put(report.meta.encode().rawBytes, at: RecordKey(ordered: 0), in: tables.meta)
    Failpoint.pass(.duringRecovery)
    return report
  }
}

// MARK: Numbers

extension FrozenRecovery {
  /// A number that may have been given is never given again: without the note of it, far beyond all seen.
  private func nextMeta(_ transaction: borrowing WriteTransaction) throws(StoreError) -> FrozenMeta {
    let found = try transaction.bytes(0, in: tables.meta)
    var meta = found.flatMap { FrozenMeta(decoding: $0.rawBytes) } ?? FrozenMeta()
    var highest: UInt64 = 0
    for table in [tables.rec, tables.outbox, tables.dead] {
      highest = max(highest, try highestNumber(in: table, transaction))
    }
    if highest >= meta.nextNumber { meta.nextNumber = highest + 1 << 32 }
    meta.epoch += 1
    return meta
  }

  private func highestNumber(
    in table: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> UInt64 {
    var highest: UInt64 = 0
    try transaction.forEach(in: table) { record in
      highest = max(highest, record.number ?? 0)
      return true
    }
    return highest
  }
}

// MARK: Damage

extension FrozenRecovery {
  private func findDamaged(_ transaction: borrowing WriteTransaction) throws(StoreError) -> [UInt64] {
    var damaged: [UInt64] = []
    try transaction.forEach(in: tables.rec) { record in
      guard let number = record.number else { return true }
      if !FrozenRow.isWhole(record.value, number) { damaged.append(number) }
      return true
    }
    return damaged
  }

  /// The bytes become a dead letter's, for whoever wants to know what happened.
  private func setAside(
    _ number: UInt64, _ nowWall: Int64, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    let key = RecordKey(ordered: number)
    let bytes = try transaction.bytes(at: key, in: tables.rec) ?? []
    var ending = FrozenEnding(endedWall: nowWall, payload: bytes)
    ending.isDamaged = true
    try transaction.put(ending.encode(number).rawBytes, at: key, in: tables.dead)
    try transaction.remove(at: key, in: tables.rec)
  }

  private func isConsistent(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Bool {
    let records = try transaction.size(of: tables.rec).records
    for table in [tables.body, tables.lane, tables.due]
    where try transaction.size(of: table).records != records {
      return false
    }
    return try transaction.size(of: tables.dedupe).records <= records
  }

  /// Lanes, due times and dedupe keys follow from the rows; a row without a body is damaged.
  private func rebuild(
    _ transaction: inout WriteTransaction, _ nowWall: Int64
  ) throws(StoreError) -> [UInt64] {
    let rows = try places(transaction)
    let bodies = try Set(numbers(in: tables.body, transaction))
    let bodiless = rows.keys.filter { !bodies.contains($0) }.sorted()
    for number in bodiless { try setAside(number, nowWall, &transaction) }
    for number in bodies where rows[number] == nil { try keepBody(number, &transaction) }
    try transaction.removeAll(in: tables.lane)
    try transaction.removeAll(in: tables.due)
    let nothing: [UInt8] = []
    for (number, row) in rows where bodies.contains(number) {
      try transaction.put(nothing.rawBytes, at: row.laneKey(number), in: tables.lane)
      try transaction.put(nothing.rawBytes, at: row.dueKey(number), in: tables.due)
    }
    try removeStrayDedupes(&transaction) { rows[$0] != nil && bodies.contains($0) }
    return bodiless
  }

  private func places(
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UInt64: FrozenRow] {
    var rows: [UInt64: FrozenRow] = [:]
    try transaction.forEach(in: tables.rec) { record in
      if let number = record.number, var row = FrozenRow(number, decoding: record.value) {
        row.payload = []
        rows[number] = row
      }
      return true
    }
    return rows
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
