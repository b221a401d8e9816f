// The tables' own verbs, with errors as `Refusal`.

extension FrozenWriter {
  func put(
    _ value: [UInt8], _ number: UInt64, _ table: Database, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    try writing(&transaction) { transaction throws(StoreError) in
      try transaction.put(value.rawBytes, at: RecordKey(ordered: number), in: table)
    }
  }

  func remove(_ key: RecordKey, _ table: Database, _ transaction: inout WriteTransaction) throws(Refusal) {
    try writing(&transaction) { transaction throws(StoreError) in
      try transaction.remove(at: key, in: table)
    }
  }

  func remove(
    _ number: UInt64, _ tables: [Database], _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    for table in tables { try remove(RecordKey(ordered: number), table, &transaction) }
  }

  func reading<Value>(_ body: () throws(StoreError) -> Value) throws(Refusal) -> Value {
    do {
      return try body()
    } catch {
      throw .store(error)
    }
  }

  func writing(
    _ transaction: inout WriteTransaction, _ body: (inout WriteTransaction) throws(StoreError) -> Void
  ) throws(Refusal) {
    do {
      try body(&transaction)
    } catch {
      throw .store(error)
    }
  }
}

// MARK: What nobody came for

extension FrozenWriter {
  /// So many rows of a table at a time.
  private static let sweepMax = 2_000

  /// Takes out what is too old or too much, the oldest first, and counts it.
  mutating func sweep(_ nowWall: Int64, _ transaction: inout WriteTransaction) throws(Refusal) {
    for (table, others) in [(tables.outbox, []), (tables.dead, [tables.remains])] {
      let numbers = try reading { () throws(StoreError) -> [UInt64] in
        try findWorn(in: table, nowWall, transaction)
      }
      for number in numbers { try remove(number, [table] + others, &transaction) }
      nextMeta.dropped += UInt64(numbers.count)
    }
  }

  private func findWorn(
    in table: Database, _ nowWall: Int64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UInt64] {
    var worn: [UInt64] = []
    var tooMany = max(0, try transaction.size(of: table).records - settings.keptRowsMax)
    try transaction.forEach(in: table) { record in
      guard let number = record.number else { return true }
      let ending = FrozenEnding(number, decoding: record.value)
      let isOld = ending.map { nowWall - $0.endedWall > settings.keptMax } ?? true
      if isOld || tooMany > 0 { worn.append(number) }
      tooMany -= 1
      return worn.count < Self.sweepMax
    }
    return worn
  }
}

extension Record {
  /// A key that is a request's number.
  var number: UInt64? {
    key.byteCount == 8 ? key.bigEndian(at: 0) : nil
  }
}
