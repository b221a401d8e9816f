/// The databases of a frozen store. Keys are numbers of requests, big-endian, unless said otherwise:
///
///   meta     0 -> `FrozenMeta`
///   rec      -> `FrozenRow`: what waits or is in flight
///   body     -> its bytes; apart, so that a change of state does not write them again
///   lane     16 bytes of lane, number -> nothing: each lane in order
///   due      not before (microseconds since 1970), number -> nothing
///   dedupe   16 bytes of digest -> number u64 little-endian, full key
///   outbox   -> `FrozenEnding`: outcomes that nobody has taken yet
///   dead     -> `FrozenEnding`: what will not be sent any more
///   remains  -> bodies of the dead that may be revived or looked into
///
/// `rec`, `body`, `lane` and `due` always hold the same requests.
struct FrozenTables: Sendable {
  /// Counts up with every change of a row's layout.
  static let layout: UInt32 = 1

  let meta: Database
  let rec: Database
  let body: Database
  let lane: Database
  let due: Database
  let dedupe: Database
  let outbox: Database
  let dead: Database
  let remains: Database

  init(_ transaction: inout WriteTransaction) throws(StoreError) {
    meta = try transaction.database("meta")
    rec = try transaction.database("rec")
    body = try transaction.database("body")
    lane = try transaction.database("lane")
    due = try transaction.database("due")
    dedupe = try transaction.database("dedupe")
    outbox = try transaction.database("outbox")
    dead = try transaction.database("dead")
    remains = try transaction.database("remains")
  }

  var all: [Database] { [meta, rec, body, lane, due, dedupe, outbox, dead, remains] }

  func usedPages(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    var pages = 0
    for database in all { pages += try transaction.size(of: database).pages }
    return pages
  }
}
