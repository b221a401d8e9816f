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
    // Used once more, it would be younger than the mark that removes it, perhaps.
    if removals.contains(where: { $0.reaches(namespace: facts.namespace, recency: facts.recency) }) { return }
    var record = stored
    try transaction.remove(
      at: RecordKey(ordered: UInt64(facts.namespace), facts.recency), in: databases.recency)
    record.reseal(recency: try recordUse(of: key, namespace: facts.namespace, &transaction), key)
    try transaction.put(record.rawBytes, at: key.recordKey, in: databases.entries)
  }

  /// When the entry of a namespace that was used last was used.
  func youngestUse(
    of namespace: UInt16, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> UInt64 {
    let end = RecordKey(ordered: UInt64(namespace) + 1, 0)
    guard let record = try transaction.last(before: end, in: databases.recency), record.key.byteCount == 16,
      UInt64(bigEndian: record.key.integer(at: 0)) == UInt64(namespace)
    else { return 0 }
    return UInt64(bigEndian: record.key.integer(at: 8))
  }

  func entry(
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
    report.isOverBudget = try !evict(downTo: settings.bytesMax, atMost: left, &transaction)
  }

  /// Removes what was used least recently, of all namespaces, until no more than so many bytes are in use. False when
  /// there would be more to remove than so many entries.
  mutating func evict(
    downTo bytesMax: Int, atMost limit: Int, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    guard try usedBytes(transaction) > bytesMax else { return true }
    var left = limit
    var heads: [LeastRecent] = []
    for namespace in namespaces {
      if let head = try head(of: namespace.number, transaction) { heads.append(head) }
    }
    while try usedBytes(transaction) > bytesMax {
      guard let place = heads.indices.min(by: { heads[$0].moment < heads[$1].moment }) else { return true }
      guard left > 0 else { return false }
      left -= 1
      try evict(heads[place], &transaction)
      if let next = try head(of: heads[place].namespace, transaction) {
        heads[place] = next
      } else {
        heads.remove(at: place)
      }
    }
    return true
  }

  /// In one transaction.
  static let evictionsMax = 10_000

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

  /// The least recently used entry of a namespace. Its key is nil when the record is damaged.
  private typealias LeastRecent = (namespace: UInt16, moment: UInt64, key: KeyDigest?)

  private func head(
    of namespace: UInt16, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> LeastRecent? {
    let from = RecordKey(ordered: UInt64(namespace), 0)
    guard let record = try transaction.first(from: from, in: databases.recency), record.key.byteCount == 16,
      UInt64(bigEndian: record.key.integer(at: 0)) == UInt64(namespace)
    else { return nil }
    return (namespace, UInt64(bigEndian: record.key.integer(at: 8)), KeyDigest(record.value))
  }

  /// So little of the store and of each namespace that what is read constantly is read between two batches.
  var batchBytesMax: Int {
    let quotas = namespaces.compactMap(\.quota) + Array(self.quotas.values)
    return max(min(settings.bytesMax, quotas.min() ?? .max) / 16, 64 << 10)
  }
}

extension CacheStoreSettings {
  /// What may still come until a store or a namespace that has `bytes` is so full that reads count at once: what waits by
  /// then is written, its batches record them, and only a later one may have to evict.
  func bytesUntilUsesCount(_ limit: Int, _ bytes: Int) -> Int {
    max(limit - min(limit / 2, max(limit / 8, limit / 16 + bodyBytesMax)) - bytes, 0)
  }
}
