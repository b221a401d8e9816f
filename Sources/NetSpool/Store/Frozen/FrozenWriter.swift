/// Makes changes to the tables, as many as are given in one transaction. One thread at a time.
struct FrozenWriter: ~Copyable {
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  /// As it was at the last commit.
  private(set) var meta: FrozenMeta
  /// As it will be at the next one.
  var nextMeta = FrozenMeta()
  /// Bytes that may be accepted before it must be counted again how many are in use.
  var room = 0
  /// After the last commit.
  private(set) var records = 0
  private(set) var usedBytes = 0

  /// The number of bytes from which nothing is accepted; the rest is for outcomes, which need room before they give
  /// it back.
  var acceptedBytesMax: Int { settings.bytesMax / 100 * 85 }

  /// Writes all changes in one transaction. What it throws has changed nothing; a change that is refused alone
  /// has its failure for a result, and the others are written.
  mutating func write(_ changes: [FrozenChange]) throws(StoreError) -> [Result<FrozenReceipt, NetworkError>] {
    settings.onDisk?()
    nextMeta = meta
    room = 0
    var transaction = try WriteTransaction(environment)
    var results: [Result<FrozenReceipt, NetworkError>] = []
    results.reserveCapacity(changes.count)
    for change in changes { results.append(try apply(change, &transaction)) }
    if nextMeta != meta {
      try transaction.put(nextMeta.encode().rawBytes, at: RecordKey(ordered: 0), in: tables.meta)
    }
    let size = (
      records: try transaction.size(of: tables.rec).records, pages: try tables.usedPages(transaction)
    )
    for case let place? in changes.map({ $0.failpoints.before }) { Failpoint.pass(place) }
    try transaction.commit()
    for case let place? in changes.map({ $0.failpoints.after }) { Failpoint.pass(place) }
    meta = nextMeta
    records = size.records
    usedBytes = size.pages * environment.pageBytes
    return results
  }

  private mutating func apply(
    _ change: FrozenChange, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Result<FrozenReceipt, NetworkError> {
    if !change.isAcceptance { room = 0 }
    do throws(Refusal) {
      switch change {
      case .accept(let row, let body): return .success(try accept(row, body, &transaction))
      case .attempt(let number, let payload): return .success(try attempt(number, payload, &transaction))
      case .sweep(let now): return .success(try sweep(now, &transaction))
      case .postpone(let number, let payload): try postpone(number, payload, &transaction)
      case .finish(let number, let ending): try finish(number, ending, &transaction)
      case .deadLetter(let number, let ending, let keepsBody):
        try makeDeadLetter(number, ending, keepsBody, &transaction)
      case .revive(let number, let row): try revive(number, row, &transaction)
      case .amend(let number, let ending): try amend(number, ending, &transaction)
      case .acknowledge(let number): try remove(number, [tables.outbox], &transaction)
      case .discard(let number): try remove(number, [tables.dead, tables.remains], &transaction)
      }
      return .success(FrozenReceipt())
    } catch {
      switch error {
      case .store(let error): throw error
      case .refused(let failure): return .failure(failure)
      }
    }
  }

  /// Why a change was not made: the transaction is lost, or only this change is refused.
  enum Refusal: Error {
    case store(StoreError)
    case refused(NetworkError)
  }
}

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

  func remove(_ number: UInt64, _ tables: [Database], _ transaction: inout WriteTransaction) throws(Refusal) {
    for table in tables { try remove(RecordKey(ordered: number), table, &transaction) }
  }

  /// A copy of the value of a request, nil when there is none.
  func bytes(
    _ number: UInt64, _ table: Database, _ transaction: borrowing WriteTransaction
  ) throws(Refusal) -> [UInt8]? {
    try reading { () throws(StoreError) -> [UInt8]? in try transaction.bytes(number, in: table) }
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
  /// The number of rows of a table that go at a time.
  private static let sweepMax = 2_000

  /// Takes out what is too old or too much, the oldest first, and counts it.
  mutating func sweep(
    _ nowWall: Int64, _ transaction: inout WriteTransaction
  ) throws(Refusal) -> FrozenReceipt {
    var receipt = FrozenReceipt()
    for (table, others) in [(tables.outbox, []), (tables.dead, [tables.remains])] {
      let numbers = try reading { () throws(StoreError) -> [UInt64] in
        try findWorn(in: table, nowWall, transaction)
      }
      for number in numbers { try remove(number, [table] + others, &transaction) }
      nextMeta.dropped += UInt64(numbers.count)
      if numbers.count == Self.sweepMax { receipt.hasLeftSome = true }
    }
    return receipt
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
  var number: UInt64? { key.byteCount == 8 ? key.bigEndian(at: 0) : nil }
}
