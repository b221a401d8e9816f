/// The databases of a frozen store. Keys are numbers of requests, big-endian, unless said otherwise:
///
///   meta     0 -> `FrozenMeta`
///   rec      -> `FrozenRow`: what waits or is in flight
///   body     -> its bytes; apart, so that a change of state does not write them again
///   dedupe   16 bytes of digest -> number u64 little-endian, full key
///   outbox   -> `FrozenEnding`: outcomes that nobody has taken yet
///   dead     -> `FrozenEnding`: what will not be sent any more
///   remains  -> bodies of the dead that may be revived or looked into
///
/// `rec` and `body` always hold the same requests.
struct FrozenTables: Sendable {
  /// Counts up with every change of what is in the file. 2: the lists `lane` and `due`, which nobody reads, are gone.
  static let layout: UInt32 = 2
  private static let former = ["lane", "due"]

  let meta: Database
  let rec: Database
  let body: Database
  let dedupe: Database
  let outbox: Database
  let dead: Database
  let remains: Database

  init(_ transaction: inout WriteTransaction) throws(StoreError) {
    meta = try transaction.database("meta")
    rec = try transaction.database("rec")
    body = try transaction.database("body")
    dedupe = try transaction.database("dedupe")
    outbox = try transaction.database("outbox")
    dead = try transaction.database("dead")
    remains = try transaction.database("remains")
  }

  /// Takes out what only earlier layouts have.
  static func removeFormer(_ transaction: inout WriteTransaction) throws(StoreError) {
    for name in former { try transaction.removeDatabase(name) }
  }

  func usedPages(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    var pages = 0
    for database in [meta, rec, body, dedupe, outbox, dead, remains] {
      pages += try transaction.size(of: database).pages
    }
    return pages
  }
}
