/// Makes changes to the databases, one write transaction at a time. On the store thread only.
///
/// An instance lives as long as the thread; what it knows of the namespaces is read anew in every transaction,
/// because other processes write too.
struct CacheWriter: ~Copyable {
  let environment: Environment
  let databases: CacheDatabases
  let settings: CacheStoreSettings
  var namespaces: [NamespaceRecord] = []
  /// The namespaces whose counts have changed in this transaction.
  var changedNamespaces: Set<UInt16> = []
  var lastRecency: UInt64 = 0
  var scratch: [UInt8] = []
  var report = BatchReport()
  private let mappedPages: MappedPages

  init(_ core: CacheStoreCore) {
    (environment, databases, settings) = (core.environment, core.databases, core.settings)
    mappedPages = core.mappedPages
  }

  /// Writes changes and recorded uses in one transaction, and evicts. Whatever it throws, nothing was changed.
  mutating func write(
    _ changes: [PendingTable.Change], touched: [KeyDigest]
  ) throws(StoreError) -> BatchReport {
    try inTransaction { writer, transaction throws(StoreError) in
      for change in changes {
        try writer.apply(change, &transaction)
        writer.countResident()
      }
      for key in touched { try writer.touch(key, &transaction) }
      try writer.evict(atMost: 2 * changes.count + 256, &transaction)
    }
  }

  /// Removes what was used least recently until at least so many bytes are free for others to write in. LMDB uses a page
  /// again in the second transaction after the one that freed it, so there are two.
  mutating func makeRoom(_ bytes: Int) throws(StoreError) -> BatchReport {
    var report = try inTransaction { writer, transaction throws(StoreError) in
      try writer.evict(bytes: bytes, &transaction)
    }
    let second = try inTransaction { writer, transaction throws(StoreError) in
      try writer.evict(bytes: 1, &transaction)
    }
    (report.entries, report.bytes) = (second.entries, second.bytes)
    report.evictions += second.evictions
    report.damaged += second.damaged
    return report
  }

  /// Every change goes down the trees of entries, bodies, recency and free pages, mostly to leaves that nobody has
  /// touched: a batch of a thousand would bring in half of a small store. What was written is in memory of LMDB's
  /// own, so nothing is lost.
  func countResident() { mappedPages.count(faults: 4) }

  mutating func inTransaction(
    _ body: (inout CacheWriter, inout WriteTransaction) throws(StoreError) -> Void
  ) throws(StoreError) -> BatchReport {
    report = BatchReport()
    var transaction = try WriteTransaction(environment, patience: Self.patience)
    try loadNamespaces(transaction)
    try body(&self, &transaction)
    try saveNamespaces(&transaction)
    report.entries = try transaction.size(of: databases.entries).records
    report.bytes = try usedBytes(transaction)
    try transaction.commit()
    return report
  }

  /// For other processes that write; then the thread looks after other things, and tries again later.
  private static let patience: Microseconds = 500_000

  func usedBytes(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    var pages = 0
    for database in databases.all { pages += try transaction.size(of: database).pages }
    return pages * environment.pageBytes
  }
}

/// What a transaction did.
struct BatchReport: Equatable {
  var puts = 0
  var evictions = 0
  var dropped = 0
  var damaged = 0
  /// The store afterwards.
  var entries = 0
  var bytes = 0
  /// There is more to evict.
  var isOverBudget = false
}

// MARK: Namespaces

extension CacheWriter {
  static let namespacesMax = 4_096

  private mutating func loadNamespaces(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    var loaded: [NamespaceRecord] = []
    try transaction.forEach(in: databases.namespaces) { record in
      if record.key.byteCount == 8,
        let namespace = NamespaceRecord(number: record.key.integer(at: 0), decoding: record.value)
      {
        loaded.append(namespace)
      }
      return true
    }
    namespaces = loaded
    changedNamespaces = []
  }

  private mutating func saveNamespaces(_ transaction: inout WriteTransaction) throws(StoreError) {
    for namespace in namespaces where changedNamespaces.contains(namespace.number) {
      let key = RecordKey(integer: UInt64(namespace.number))
      try transaction.put(namespace.encode().rawBytes, at: key, in: databases.namespaces)
    }
  }

  /// Returns the index in `namespaces`; made when missing. Nil when there are too many.
  mutating func place(ofNamespace name: String) -> Int? {
    if let place = namespaces.firstIndex(where: { $0.name == name }) { return place }
    guard namespaces.count < Self.namespacesMax else { return nil }
    let taken = Set(namespaces.map(\.number))
    guard let number = (UInt16(1)...UInt16.max).first(where: { !taken.contains($0) }) else { return nil }
    namespaces.append(NamespaceRecord(number: number, name: name))
    return namespaces.count - 1
  }

  mutating func count(_ number: UInt16, entries: Int, bytes: Int) {
    guard let place = namespaces.firstIndex(where: { $0.number == number }) else { return }
    namespaces[place].entries = max(namespaces[place].entries + entries, 0)
    namespaces[place].bytes = max(namespaces[place].bytes + bytes, 0)
    changedNamespaces.insert(number)
  }
}
