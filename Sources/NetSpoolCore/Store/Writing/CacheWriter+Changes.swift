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
    let namespace = namespaces[place].number
    var facts = EntryFacts(
      recency: 0, bodyID: put.bodyID, bodyChecksum: 0, bodyPage: 0, bodyBytes: put.body.count,
      namespace: namespace, recordBytes: 0)
    if put.body.count > EntryRecord.bodyInlineMax {
      facts.bodyChecksum = Checksum.of(put.body.rawBytes)
      guard let page = try putBody(put, &transaction) else {
        report.dropped += 1
        return
      }
      facts.bodyPage = page
    }
    facts.recency = try recordUse(of: key.digest, namespace: namespace, &transaction)
    try write(facts, key, put, &transaction)
    report.puts += 1
  }

  private mutating func write(
    _ facts: EntryFacts, _ key: StoreKey, _ put: PendingPut, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    let inline = facts.bodyPage == 0 ? put.body : []
    facts.encode(key: key, metadata: put.metadata.rawBytes, inlineBody: inline.rawBytes, into: &scratch)
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    var written = facts
    written.recordBytes = scratch.count
    count(facts.namespace, entries: 1, bytes: written.weight(pageBytes: environment.pageBytes))
  }

  /// Answers the body's first page; nil when its id or page cannot be had.
  private mutating func putBody(
    _ put: PendingPut, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt32? {
    let key = RecordKey(integer: put.bodyID)
    let bytesMin = environment.pageBytes / 2
    guard put.body.count < bytesMin else {
      return try transaction.putLarge(put.body.rawBytes, at: key, in: databases.bodies)?.page
    }
    // Filled up, so that it gets pages of its own.
    let padded = put.body + [UInt8](repeating: 0, count: bytesMin - put.body.count)
    return try transaction.putLarge(padded.rawBytes, at: key, in: databases.bodies)?.page
  }

  // MARK: Metadata

  private mutating func replaceMetadata(
    _ metadata: [UInt8], bodyID: UInt64, _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let (facts, inline) = try storedBody(key, &transaction), facts.bodyID == bodyID else { return }
    facts.encode(key: key, metadata: metadata.rawBytes, inlineBody: inline.rawBytes, into: &scratch)
    try transaction.put(scratch.rawBytes, at: key.digest.recordKey, in: databases.entries)
    count(facts.namespace, entries: 0, bytes: scratch.count - facts.recordBytes)
  }

  private func storedBody(
    _ key: StoreKey, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> (EntryFacts, inline: [UInt8])? {
    guard let value = try transaction.value(at: key.digest.recordKey, in: databases.entries),
      let entry = EntryRecord(value, key: key.digest), entry.key.isEqual(to: key.fullKey)
    else { return nil }
    let facts = entry.facts
    guard facts.bodyPage == 0 else { return (facts, []) }
    return (facts, [UInt8](value.extracting(entry.inlineBodyOffset..<value.byteCount)))
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
    guard facts.bodyPage != 0 else { return }
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
    environment.place.markSuspect()
  }
}
