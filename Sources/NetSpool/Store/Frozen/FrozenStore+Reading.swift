// Reading: any thread, never waits for the writer.

extension FrozenStore {
  enum Endings: Sendable { case outcomes, deadLetters }

  private func table(_ endings: Endings) -> Database {
    endings == .outcomes ? core.tables.outbox : core.tables.dead
  }

  /// Rows that are read in one go: meanwhile the map cannot grow, so nothing is written that needs more of it.
  private static let rowsAtOnce = 256

  /// Goes through all requests in the order of their numbers, for as long as `visit` says so: their lane, and what
  /// the owner keeps there. Rows that became damaged since it was opened are left out. What comes and goes meanwhile
  /// may be seen or not.
  func scan(
    from number: UInt64 = 0, _ visit: (_ number: UInt64, _ lane: KeyDigest, _ payload: RawSpan) -> Bool
  ) throws(NetworkError) {
    var next: UInt64? = number
    while let first = next { next = try scanSome(from: first, visit) }
  }

  /// Returns where to go on; nil at the end.
  private func scanSome(
    from first: UInt64, _ visit: (_ number: UInt64, _ lane: KeyDigest, _ payload: RawSpan) -> Bool
  ) throws(NetworkError) -> UInt64? {
    try core.read { transaction throws(StoreError) in
      var next: UInt64?
      var left = Self.rowsAtOnce
      try transaction.forEach(from: RecordKey(ordered: first), in: core.tables.rec) { record in
        guard let number = record.number else { return true }
        if left == 0 {
          next = number
          return false
        }
        left -= 1
        guard FrozenRow.isWhole(record.value, number) else { return true }
        let lane = KeyDigest((record.value.integer(at: 16), record.value.integer(at: 24)))
        let payload = record.value.extracting(FrozenRow.headerBytes..<record.value.byteCount)
        return visit(number, lane, payload)
      }
      return next
    }
  }

  /// One request; nil when it is not there, `storeCorrupt` when its bytes are not what was written.
  func row(_ number: UInt64) throws(NetworkError) -> FrozenRow? {
    let (isThere, row) = try core.read { transaction throws(StoreError) in
      let bytes = try transaction.bytes(at: RecordKey(ordered: number), in: core.tables.rec)
      return (bytes != nil, bytes.flatMap { FrozenRow(number, decoding: $0.rawBytes) })
    }
    if isThere && row == nil { throw NetworkError(.storeCorrupt, reason: "record \(number)") }
    return row
  }

  /// Outcomes that nobody has taken, or dead letters, in the order of their numbers, from `number` on. Those whose
  /// bytes are not what was written are left out, and go with the next sweep.
  func endings(
    _ kind: Endings, from number: UInt64 = 0, atMost count: Int = .max
  ) throws(NetworkError) -> [(number: UInt64, ending: FrozenEnding)] {
    var endings: [(number: UInt64, ending: FrozenEnding)] = []
    var next: UInt64? = number
    while let first = next, endings.count < count {
      let some = try someEndings(
        table(kind), from: first, atMost: min(count - endings.count, Self.rowsAtOnce))
      endings += some.endings
      next = some.next
    }
    return endings
  }

  /// Returns where to go on as well; nil at the end.
  private func someEndings(
    _ table: Database, from first: UInt64, atMost count: Int
  ) throws(NetworkError) -> (endings: [(number: UInt64, ending: FrozenEnding)], next: UInt64?) {
    try core.read { transaction throws(StoreError) in
      var endings: [(number: UInt64, ending: FrozenEnding)] = []
      var next: UInt64?
      try transaction.forEach(from: RecordKey(ordered: first), in: table) { record in
        guard let number = record.number else { return true }
        if endings.count == count {
          next = number
          return false
        }
        if let ending = FrozenEnding(number, decoding: record.value) { endings.append((number, ending)) }
        return true
      }
      return (endings, next)
    }
  }

  func ending(_ kind: Endings, _ number: UInt64) throws(NetworkError) -> FrozenEnding? {
    let table = table(kind)
    return try core.read { transaction throws(StoreError) in
      try transaction.bytes(at: RecordKey(ordered: number), in: table)
        .flatMap { FrozenEnding(number, decoding: $0.rawBytes) }
    }
  }
}

extension RawSpan {
  /// A number as keys hold it.
  func bigEndian(at offset: Int) -> UInt64 { integer(at: offset, as: UInt64.self).byteSwapped }
}
