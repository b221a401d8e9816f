extension CacheWriter {
  /// Enters a use under a moment of its own, and answers it: the wall clock in microseconds, but later than
  /// all before, so that an order remains when the clock is set back.
  mutating func recordUse(
    of key: KeyDigest, namespace: UInt16, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt64 {
    var moment = max(UInt64(max(WallClock.microseconds, 0)), lastRecency + 1)
    scratch.removeAll(keepingCapacity: true)
    scratch.append(integer: key.first)
    scratch.append(integer: key.second)
    // Another process may have taken the moment.
    while try !transaction.putNew(
      scratch.rawBytes, at: RecordKey(ordered: UInt64(namespace), moment), in: databases.recency)
    { moment += 1 }
    lastRecency = moment
    return moment
  }

  /// Moves an entry to the end of its namespace's list.
  mutating func touch(_ key: KeyDigest, _ transaction: inout WriteTransaction) throws(StoreError) {
    guard let (stored, facts) = try entry(key, transaction) else { return }
    var record = stored
    try transaction.remove(
      at: RecordKey(ordered: UInt64(facts.namespace), facts.recency), in: databases.recency)
    record.reseal(recency: try recordUse(of: key, namespace: facts.namespace, &transaction), key)
    try transaction.put(record.rawBytes, at: key.recordKey, in: databases.entries)
  }

  private func entry(
    _ key: KeyDigest, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> (record: [UInt8], EntryFacts)? {
    guard let value = try transaction.value(at: key.recordKey, in: databases.entries),
      let facts = EntryRecord(value, key: key)?.facts
    else { return nil }
    return ([UInt8](value), facts)
  }

  // MARK: Eviction

  /// Removes what was used least recently: from namespaces over their quota, then from all while the store is
  /// over its budget.
  mutating func evict(atMost limit: Int, _ transaction: inout WriteTransaction) throws(StoreError) {
    var left = limit
    for place in namespaces.indices {
      guard let quota = namespaces[place].quota else { continue }
      while namespaces[place].bytes > quota, left > 0 {
        guard let head = try head(of: namespaces[place].number, transaction) else { break }
        try evict(head, &transaction)
        left -= 1
      }
    }
    try evictToBudget(&left, &transaction)
  }

  private mutating func evictToBudget(
    _ left: inout Int, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard try usedBytes(transaction) > settings.bytesMax else { return }
    var heads: [LeastRecent] = []
    for namespace in namespaces {
      if let head = try head(of: namespace.number, transaction) { heads.append(head) }
    }
    while try usedBytes(transaction) > settings.bytesMax {
      guard let place = heads.indices.min(by: { heads[$0].moment < heads[$1].moment }) else { return }
      guard left > 0 else {
        report.isOverBudget = true
        return
      }
      left -= 1
      try evict(heads[place], &transaction)
      if let next = try head(of: heads[place].namespace, transaction) {
        heads[place] = next
      } else {
        heads.remove(at: place)
      }
    }
  }

  /// Removes what was used least recently, of all namespaces, until so many bytes are gone.
  mutating func evict(bytes: Int, _ transaction: inout WriteTransaction) throws(StoreError) {
    let goal = try usedBytes(transaction) - bytes
    while try usedBytes(transaction) > goal, report.evictions < Self.evictionsMax {
      var oldest: LeastRecent?
      for namespace in namespaces {
        guard let head = try head(of: namespace.number, transaction) else { continue }
        if oldest.map({ head.moment < $0.moment }) ?? true { oldest = head }
      }
      guard let oldest else { return }
      try evict(oldest, &transaction)
    }
  }

  /// In one transaction.
  private static let evictionsMax = 10_000

  private mutating func evict(
    _ least: LeastRecent, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    if let key = least.key { try remove(key, &transaction) }
    // Already gone with the entry, unless the entry was damaged or is another by now.
    try transaction.remove(
      at: RecordKey(ordered: UInt64(least.namespace), least.moment), in: databases.recency)
    report.evictions += 1
    countResident()
  }

  /// The least recently used entry of a namespace.
  private struct LeastRecent {
    let namespace: UInt16
    let moment: UInt64
    /// Nil when the record is damaged.
    let key: KeyDigest?
  }

  private func head(
    of namespace: UInt16, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> LeastRecent? {
    let from = RecordKey(ordered: UInt64(namespace), 0)
    guard let record = try transaction.first(from: from, in: databases.recency), record.key.byteCount == 16,
      UInt64(bigEndian: record.key.integer(at: 0)) == UInt64(namespace)
    else { return nil }
    return LeastRecent(
      namespace: namespace, moment: UInt64(bigEndian: record.key.integer(at: 8)), key: KeyDigest(record.value)
    )
  }
}

extension CacheWriter {
  /// The key at which a removal of many entries goes on.
  enum Progress {
    case from(KeyDigest)
    case done
  }

  private static let visitsMax = 20_000
  private static let removalsMax = 1_000

  /// One transaction's worth of removing a namespace's entries whose full keys match.
  mutating func removeSome(
    namespace name: String, matches: KeyMatch?, from start: KeyDigest?
  ) throws(StoreError) -> (Progress, BatchReport) {
    var progress = Progress.done
    let report = try inTransaction { writer, transaction throws(StoreError) in
      if start == nil { try writer.fenceAll(at: MonotonicClock.now, &transaction) }
      guard let namespace = writer.namespaces.first(where: { $0.name == name }) else { return }
      let total = try transaction.size(of: writer.databases.entries).records
      if matches == nil && namespace.entries >= total {
        try writer.removeEverything(&transaction)
      } else {
        progress = try writer.removeMatches(namespace.number, matches, from: start, &transaction)
      }
    }
    return (progress, report)
  }

  /// No entry of another namespace: trees as a whole go faster than record by record.
  private mutating func removeEverything(_ transaction: inout WriteTransaction) throws(StoreError) {
    for database in databases.all { try transaction.removeAll(in: database) }
    namespaces = []
  }

  private mutating func removeMatches(
    _ namespace: UInt16, _ matching: KeyMatch?, from start: KeyDigest?, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Progress {
    var matches: [KeyDigest] = []
    var last: KeyDigest?
    var visits = 0
    try transaction.forEach(from: start?.recordKey, in: databases.entries) { record in
      guard visits < Self.visitsMax, matches.count < Self.removalsMax else { return false }
      visits += 1
      guard let key = KeyDigest(record.key) else { return true }
      last = key
      // A damaged entry belongs to nobody; it goes as well.
      guard let entry = EntryRecord(record.value, key: key) else {
        matches.append(key)
        return true
      }
      if entry.namespace == namespace && isMeant(entry, by: matching, transaction) { matches.append(key) }
      return true
    }
    let isEnd = visits < Self.visitsMax && matches.count < Self.removalsMax
    for key in matches { try remove(key, &transaction) }
    guard !isEnd, let last else { return .done }
    return .from(last)
  }
}

extension CacheWriter {
  private func isMeant(
    _ entry: borrowing EntryRecord, by matches: KeyMatch?, _ transaction: borrowing WriteTransaction
  ) -> Bool {
    guard let matches else { return true }
    let headBytes = entry.keyBytes + entry.metadataBytes
    if entry.isHeadInline {
      let start = EntryRecord.headerBytes
      return matches(
        entry.bytes.extracting(start..<(start + entry.keyBytes)),
        entry.bytes.extracting((start + entry.keyBytes)..<(start + headBytes)))
    }
    // Without its large value the entry is worth nothing.
    guard let value = try? transaction.value(at: RecordKey(integer: entry.bodyID), in: databases.bodies),
      value.byteCount >= headBytes
    else { return true }
    return matches(
      value.extracting(first: entry.keyBytes), value.extracting(entry.keyBytes..<headBytes))
  }
}

extension RawSpan {
  func begins(with prefix: [UInt8]) -> Bool {
    byteCount >= prefix.count && extracting(first: prefix.count).isEqual(to: prefix)
  }
}
