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

  private struct Row {
    let table: Database
    let key: RecordKey
    let value: [UInt8]
  }

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
    let table: Database? =
      switch name {
      case "meta": tables.meta
      case "rec": tables.rec
      case "body": tables.body
      case "dedupe": tables.dedupe
      case "outbox": tables.outbox
      case "dead": tables.dead
      case "remains": tables.remains
      default: nil
      }
    let recordKey: RecordKey? =
      switch key.byteCount {
      case 8: RecordKey(ordered: key.bigEndian(at: 0))
      case 16: KeyDigest(key)?.recordKey
      default: nil
      }
    guard let table, let recordKey else { return nil }
    return Row(table: table, key: recordKey, value: [UInt8](value))
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
