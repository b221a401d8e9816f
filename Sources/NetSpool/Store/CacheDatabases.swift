/// The databases of a cache store:
///
///   entries     16 bytes of digest -> `EntryRecord`
///   bodies      body id -> the body's bytes, each on pages of its own
///   recency     namespace, recency -> 16 bytes of digest: who was used least recently
///   namespaces  number -> `NamespaceRecord`
struct CacheDatabases: Sendable {
  /// Counts up with every change of a record's layout or of the digest.
  static let layout: UInt32 = 2

  let entries: Database
  let bodies: Database
  let recency: Database
  let namespaces: Database

  init(_ transaction: inout WriteTransaction) throws(StoreError) {
    entries = try transaction.database("entries")
    bodies = try transaction.database("bodies", keys: .integers)
    recency = try transaction.database("recency")
    namespaces = try transaction.database("namespaces", keys: .integers)
  }

  var all: [Database] { [entries, bodies, recency, namespaces] }

  /// The number of entries, and the pages of all databases.
  func size(_ transaction: borrowing WriteTransaction) throws(StoreError) -> DatabaseSize {
    var pages = 0
    for database in all { pages += try transaction.size(of: database).pages }
    return DatabaseSize(records: try transaction.size(of: entries).records, pages: pages)
  }
}
