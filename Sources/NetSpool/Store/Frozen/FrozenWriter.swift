/// Makes changes to the tables, as many as are given in one transaction. On the store thread only.
struct FrozenWriter: ~Copyable {
  let environment: Environment
  let tables: FrozenTables
  let settings: FrozenStoreSettings
  /// As it was at the last commit.
  private(set) var meta: FrozenMeta
  /// As it will be.
  var nextMeta: FrozenMeta
  /// Bytes that may be accepted before it must be counted again how many are in use.
  var room = 0
  /// After the last commit.
  private(set) var records = 0
  private(set) var usedBytes = 0

  init(environment: Environment, tables: FrozenTables, settings: FrozenStoreSettings, meta: FrozenMeta) {
    self.environment = environment
    self.tables = tables
    self.settings = settings
    self.meta = meta
    nextMeta = meta
  }

  /// From here on nothing is accepted; what is left is for outcomes, which need room before they give it back.
  var acceptedBytesMax: Int { settings.bytesMax / 100 * 85 }

  /// Writes all changes in one transaction. What it throws has changed nothing; a change that is refused alone
  /// has its failure for a result, and the others are written.
  mutating func write(
    _ changes: [FrozenChange]
  ) throws(StoreError) -> [Result<FrozenReceipt, NetworkError>] {
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
    for case let place? in changes.map(\.failpointBefore) { Failpoint.pass(place) }
    try transaction.commit()
    for case let place? in changes.map(\.failpointAfter) { Failpoint.pass(place) }
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
      case .attempt(let number, let payload):
        return .success(try attempt(number, payload, &transaction))
      case .postpone(let number, let payload):
        try postpone(number, payload, &transaction)
        return .success(FrozenReceipt(number))
      case .finish(let number, let ending):
        try finish(number, ending, &transaction)
        return .success(FrozenReceipt(number))
      case .bury(let number, let ending, let keepsBody):
        try bury(number, ending, keepsBody, &transaction)
        return .success(FrozenReceipt(number))
      case .revive(let number, let row):
        try revive(number, row, &transaction)
        return .success(FrozenReceipt(number))
      case .acknowledge(let number):
        try remove(number, [tables.outbox], &transaction)
        return .success(FrozenReceipt(number))
      case .discard(let number):
        try remove(number, [tables.dead, tables.remains], &transaction)
        return .success(FrozenReceipt(number))
      case .sweep(let now):
        try sweep(now, &transaction)
        return .success(FrozenReceipt(0))
      }
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
