/// Makes changes to the databases, one write transaction at a time. On the store thread only.
///
/// An instance lives as long as the thread; what it knows of the namespaces is read anew in every transaction,
/// because other processes write too.
struct CacheWriter: ~Copyable {
  let environment: Environment
  let databases: CacheDatabases
  let bodies: BodyFiles
  let settings: CacheStoreSettings
  var namespaces: [NamespaceRecord] = []
  /// The quotas that this process has been given, by the names of namespaces.
  var quotas: [String: Int] = [:]
  /// The namespaces whose counts have changed in this transaction.
  var changedNamespaces: Set<UInt16> = []
  /// Bytes of all long bodies.
  private var fileBytes = 0
  /// The files that this transaction has made, and those that go when it is committed.
  private var madeFiles: [UInt64] = []
  private var goneFiles: [UInt64] = []
  /// Marks of entries that are still to be taken out.
  var removals: [Removal] = []
  var lastRecency: UInt64 = 0
  var scratch: [UInt8] = []
  var report = BatchReport()
  private let mappedPages: MappedPages

  init(_ core: CacheStoreCore) {
    (environment, databases, settings) = (core.environment, core.databases, core.settings)
    bodies = core.bodies
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

  /// Removes what was used least recently until at least so many bytes are free for others to write in, or so many
  /// entries are gone. LMDB uses a page again in the second transaction after the one that freed it, so there are two.
  mutating func makeRoom(_ bytes: Int, entriesMax: Int = evictionsMax) throws(StoreError) -> BatchReport {
    let report = try inTransaction { writer, transaction throws(StoreError) in
      let bytesLeft = try writer.usedBytes(transaction) - bytes
      _ = try writer.evict(downTo: bytesLeft, atMost: entriesMax, &transaction)
    }
    if report.evictions > 0 {
      _ = try inTransaction { writer, _ throws(StoreError) in
        // Nothing new, so that there is a commit.
        if let namespace = writer.namespaces.first { writer.changedNamespaces.insert(namespace.number) }
      }
    }
    return report
  }

  /// Every change goes down the trees of entries, bodies, recency and free pages, mostly to leaves that are still
  /// untouched: a batch of a thousand would bring in half of a small store. What was written is in memory of LMDB's
  /// own, so nothing is lost.
  func countResident() { mappedPages.count(faults: 4) }

  mutating func inTransaction(
    _ body: (inout CacheWriter, inout WriteTransaction) throws(StoreError) -> Void
  ) throws(StoreError) -> BatchReport {
    (report, madeFiles, goneFiles) = (BatchReport(), [], [])
    do throws(StoreError) {
      let report = try commit(body)
      for id in goneFiles { bodies.remove(id) }
      return report
    } catch {
      for id in madeFiles { bodies.remove(id) }
      throw error
    }
  }

  private mutating func commit(
    _ body: (inout CacheWriter, inout WriteTransaction) throws(StoreError) -> Void
  ) throws(StoreError) -> BatchReport {
    let patience = Self.patience * Microseconds(settings.slack)
    var transaction = try WriteTransaction(environment, patience: patience)
    try loadNamespaces(transaction)
    try loadRemovals(transaction)
    let fileBytesBefore = try databases.fileBytes(transaction)
    fileBytes = fileBytesBefore
    try body(&self, &transaction)
    try saveNamespaces(&transaction)
    if fileBytes != fileBytesBefore {
      var total: [UInt8] = []
      total.append(integer: UInt64(fileBytes))
      try transaction.put(total.rawBytes, at: RecordKey(integer: 0), in: databases.files)
    }
    report.entries = try transaction.size(of: databases.entries).records
    report.bytes = try usedBytes(transaction)
    report.fileBytes = fileBytes
    report.bytesUntilUsesCount = settings.bytesUntilUsesCount(settings.bytesMax, report.bytes)
    for namespace in namespaces {
      guard let quota = namespace.quota else { continue }
      let bytes = settings.bytesUntilUsesCount(quota, namespace.bytes)
      report.bytesUntilUsesCount = min(report.bytesUntilUsesCount, bytes)
    }
    report.abandoned =
      removals.first {
        $0.isAbandoned(now: MonotonicClock.now, after: settings.sweepPatience)
      }?.number
    try transaction.commit()
    return report
  }

  /// For other processes that write; then the thread looks after other things, and tries again later.
  private static let patience: Microseconds = 500_000

  func usedBytes(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    try databases.pageBytes(transaction) + fileBytes
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
  var fileBytes = 0
  /// There is more to evict.
  var isOverBudget = false
  /// What may still come before every read is to count.
  var bytesUntilUsesCount = 0
  /// The mark of a removal that no process goes on with.
  var abandoned: UInt64?
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
    for place in namespaces.indices {
      guard let quota = quotas[namespaces[place].name], namespaces[place].quota != quota else { continue }
      namespaces[place].quota = quota
      changedNamespaces.insert(namespaces[place].number)
    }
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
    namespaces.append(NamespaceRecord(number: number, name: name, quota: quotas[name]))
    return namespaces.count - 1
  }

  mutating func count(_ number: UInt16, entries: Int, bytes: Int) {
    guard let place = namespaces.firstIndex(where: { $0.number == number }) else { return }
    namespaces[place].entries = max(namespaces[place].entries + entries, 0)
    namespaces[place].bytes = max(namespaces[place].bytes + bytes, 0)
    changedNamespaces.insert(number)
  }
}

extension CacheWriter {
  mutating func apply(
    _ change: PendingTable.Change, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    switch change.content {
    case .removed: try remove(change.key.digest, &transaction)
    case .fence(let moment): try fence(change.key.digest.first, at: moment, &transaction)
    case .put(let put):
      if try holdsBack(change.key.digest.first, askedAt: put.askedAt, transaction) { return }
      try apply(put, change.key, &transaction)
    case .metadata(let metadata, let bodyID):
      try replaceMetadata(metadata, bodyID: bodyID, change.key, &transaction)
    }
  }

  // MARK: Put

  private mutating func apply(
    _ put: PendingPut, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    try remove(key.digest, &transaction)
    guard let place = place(ofNamespace: put.namespace), hasRoom(for: put, in: namespaces[place]) else {
      report.dropped += 1
      return
    }
    var facts = EntryFacts(
      recency: 0, bodyID: put.bodyID, bodyBytes: put.body.count, large: nil,
      namespace: namespaces[place].number)
    guard try putBody(put, key, &facts, &transaction) else {
      report.dropped += 1
      return
    }
    facts.recency = try recordUse(of: key.digest, namespace: facts.namespace, &transaction)
    scratch.encode(
      facts, key: key, metadata: put.metadata, isHeadInline: facts.large == nil,
      inlineBody: facts.isInline ? put.body.inline : [])
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    facts.recordBytes = scratch.count
    count(facts.namespace, entries: 1, bytes: facts.weight(pageBytes: environment.pageBytes))
    report.puts += 1
  }

  /// A body as long as all that may be stored would drive out everything, and then itself.
  private func hasRoom(for put: PendingPut, in namespace: NamespaceRecord) -> Bool {
    let limit = min(settings.bytesMax, namespace.quota ?? .max)
    return put.body.count + put.metadata.count <= limit - limit / 16
      && put.body.count <= Environment.fileBytesMax
  }

  /// Puts the body where one of its length belongs, unless that is its record. False when its page cannot be had, or the
  /// system refuses a file.
  private mutating func putBody(
    _ put: PendingPut, _ key: StoreKey, _ facts: inout EntryFacts, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    if facts.bodyBytes >= BodyFiles.bytesMin { return try putFile(put, &facts, &transaction) }
    guard facts.bodyBytes > EntryRecord.bodyInlineMax else { return true }
    let value = try transaction.putLarge(
      key.fullKey, put.metadata, put.body.inline, at: RecordKey(integer: put.bodyID), in: databases.bodies)
    facts.large = value.map {
      EntryFacts.Large(
        page: $0.page, checksum: $0.checksum, bodyOffset: key.fullKey.count + put.metadata.count)
    }
    return value != nil
  }

  private mutating func putFile(
    _ put: PendingPut, _ facts: inout EntryFacts, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      facts.fileChecksum = try bodies.store(put.body, as: put.bodyID)
    } catch {
      // Where there is no room, older entries make some.
      if error.isFull { throw error }
      return false
    }
    madeFiles.append(put.bodyID)
    fileBytes += facts.fileBytes
    try transaction.put([UInt8]().rawBytes, at: RecordKey(integer: put.bodyID), in: databases.files)
    return true
  }

  // MARK: Metadata

  private mutating func replaceMetadata(
    _ metadata: [UInt8], bodyID: UInt64, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let (record, facts) = try entry(key.digest, transaction), facts.bodyID == bodyID else { return }
    let inlineBody = facts.isInline ? Array(record.suffix(facts.bodyBytes)) : []
    scratch.encode(facts, key: key, metadata: metadata, isHeadInline: true, inlineBody: inlineBody)
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    count(facts.namespace, entries: 0, bytes: scratch.count - facts.recordBytes)
  }

  // MARK: Remove

  /// Takes out all entries: trees as a whole go faster than record by record. Only when no damage is in the way.
  mutating func removeEverything(_ transaction: inout WriteTransaction) throws(StoreError) {
    goneFiles += bodies.numbers
    for database in databases.all { try transaction.removeAll(in: database) }
    try transaction.removeAll(in: databases.removals)
    (namespaces, fileBytes) = ([], 0)
  }

  /// Has the files go that no entry has: a process was killed between a file and its record. Files are made in
  /// transactions, so there is none that another process is about to name.
  mutating func removeLostFiles() throws(StoreError) {
    _ = try inTransaction { writer, transaction throws(StoreError) in
      let numbers = writer.bodies.numbers
      // One record is the sum.
      guard numbers.count >= max(1, try transaction.size(of: writer.databases.files).records) else { return }
      let files = writer.databases.files
      for id in numbers where try transaction.value(at: RecordKey(integer: id), in: files) == nil {
        writer.goneFiles.append(id)
      }
    }
  }

  /// Takes an entry out with all that belongs to it.
  mutating func remove(_ key: KeyDigest, _ transaction: inout WriteTransaction) throws(StoreError) {
    guard let stored = try stored(key, transaction) else { return }
    try transaction.remove(at: key.recordKey, in: databases.entries)
    guard let facts = stored else { return foundDamage() }
    let use = RecordKey(ordered: UInt64(facts.namespace), facts.recency)
    try transaction.remove(at: use, in: databases.recency)
    count(facts.namespace, entries: -1, bytes: -facts.weight(pageBytes: environment.pageBytes))
    if facts.isFile {
      try transaction.remove(at: RecordKey(integer: facts.bodyID), in: databases.files)
      fileBytes = max(fileBytes - facts.fileBytes, 0)
      goneFiles.append(facts.bodyID)
    }
    guard facts.large != nil else { return }
    let removal = try transaction.removeLarge(at: RecordKey(integer: facts.bodyID), in: databases.bodies)
    if removal != .removed { foundDamage() }
  }

  /// Nil: nothing is there; nil inside: it is damaged.
  private func stored(
    _ key: KeyDigest, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> EntryFacts?? {
    guard let value = try transaction.value(at: key.recordKey, in: databases.entries) else { return .none }
    return .some(EntryRecord(value, key: key)?.facts)
  }

  /// What cannot be taken out properly stays behind as dead weight, so the next start begins afresh.
  private mutating func foundDamage() {
    report.damaged += 1
    environment.directory.markSuspect()
  }
}
