extension CacheWriter {
  mutating func apply(
    _ change: PendingTable.Change, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    switch change.content {
    case .removed: try remove(change.key.digest, &transaction)
    case .put(let put): try apply(put, change.key, &transaction)
    case .metadata(let metadata, let bodyID):
      try replaceMetadata(metadata, bodyID: bodyID, change.key, &transaction)
    }
  }

  // MARK: Put

  private mutating func apply(
    _ put: PendingPut, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    try remove(key.digest, &transaction)
    guard let place = place(ofNamespace: put.namespace) else {
      report.dropped += 1
      return
    }
    var facts = EntryFacts(
      recency: 0, bodyID: put.bodyID, bodyBytes: put.body.count, large: nil,
      namespace: namespaces[place].number)
    if put.body.count > EntryRecord.bodyInlineMax {
      guard let large = try putLarge(put, key, &transaction) else {
        report.dropped += 1
        return
      }
      facts.large = large
    }
    facts.recency = try recordUse(of: key.digest, namespace: facts.namespace, &transaction)
    scratch.encode(
      facts, key: key, metadata: put.metadata, isHeadInline: facts.large == nil,
      inlineBody: facts.large == nil ? put.body : [])
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    facts.recordBytes = scratch.count
    count(facts.namespace, entries: 1, bytes: facts.weight(pageBytes: environment.pageBytes))
    report.puts += 1
  }

  /// Nil when the body's id or page cannot be had.
  private mutating func putLarge(
    _ put: PendingPut, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> EntryFacts.Large? {
    let value = try transaction.putLarge(
      key.fullKey, put.metadata, put.body, at: RecordKey(integer: put.bodyID), in: databases.bodies)
    guard let value else { return nil }
    return EntryFacts.Large(
      page: value.page, checksum: value.checksum, bodyOffset: key.fullKey.count + put.metadata.count)
  }

  // MARK: Metadata

  private mutating func replaceMetadata(
    _ metadata: [UInt8], bodyID: UInt64, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let (facts, inlineBody) = try storedBody(key, transaction), facts.bodyID == bodyID else { return }
    scratch.encode(facts, key: key, metadata: metadata, isHeadInline: true, inlineBody: inlineBody)
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    count(facts.namespace, entries: 0, bytes: scratch.count - facts.recordBytes)
  }

  private func storedBody(
    _ key: StoreKey, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> (EntryFacts, inlineBody: [UInt8])? {
    guard let value = try transaction.value(at: key.digest.recordKey, in: databases.entries),
      let entry = EntryRecord(value, key: key.digest)
    else { return nil }
    return (entry.facts, [UInt8](entry.inlineBody))
  }

  // MARK: Remove

  /// Takes an entry out with all that belongs to it.
  mutating func remove(_ key: KeyDigest, _ transaction: inout WriteTransaction) throws(StoreError) {
    let stored = try stored(key, transaction)
    if case .nothing = stored { return }
    try transaction.remove(at: key.recordKey, in: databases.entries)
    guard case .entry(let facts) = stored else { return foundDamage() }
    let use = RecordKey(ordered: UInt64(facts.namespace), facts.recency)
    try transaction.remove(at: use, in: databases.recency)
    count(facts.namespace, entries: -1, bytes: -facts.weight(pageBytes: environment.pageBytes))
    guard facts.large != nil else { return }
    let removal = try transaction.removeLarge(at: RecordKey(integer: facts.bodyID), in: databases.bodies)
    if removal != .removed { foundDamage() }
  }

  private enum Stored {
    case nothing, damaged
    case entry(EntryFacts)
  }

  private func stored(
    _ key: KeyDigest, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Stored {
    guard let value = try transaction.value(at: key.recordKey, in: databases.entries) else { return .nothing }
    guard let entry = EntryRecord(value, key: key) else { return .damaged }
    return .entry(entry.facts)
  }

  /// What cannot be taken out properly stays behind as dead weight, so the next start begins afresh.
  private mutating func foundDamage() {
    report.damaged += 1
    environment.directory.markSuspect()
  }
}
