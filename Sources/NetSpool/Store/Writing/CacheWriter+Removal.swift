extension CacheWriter {
  /// Where a removal of many entries goes on.
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
    if let key = entry.inlineKey { return matches(key) }
    // Without its large value the entry is worth nothing.
    guard let value = try? transaction.value(at: RecordKey(integer: entry.bodyID), in: databases.bodies),
      value.byteCount >= entry.keyBytes
    else { return true }
    return matches(value.extracting(first: entry.keyBytes))
  }
}

extension RawSpan {
  func begins(with prefix: [UInt8]) -> Bool {
    byteCount >= prefix.count && extracting(first: prefix.count).isEqual(to: prefix)
  }
}
