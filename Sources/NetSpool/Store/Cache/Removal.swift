// The value of a record in the database `removals`; its key is a number. Integers little-endian:
//
//    0  8  checksum of everything behind it
//    8  8  recency of the youngest entry of the namespace when it was made
//   16  8  microseconds of the machine's own clock when it was made
//   24  2  namespace
//   26  1  1: a pattern follows; 0: all entries are meant
//   27     pattern

/// True if an entry is meant, by its full key and what is stored beside its body.
typealias KeyMatch = @Sendable (_ fullKey: RawSpan, _ metadata: RawSpan) -> Bool

/// Entries that were removed by what they are, and still stand in the trees.
///
/// To take out thousands of them costs a second, for which no caller shall wait. So what a few milliseconds do not finish
/// leaves this mark in the store: no lookup of any process that sees the mark finds what it means, and the store thread
/// takes the entries out little by little, then the mark. If its process dies, another goes on with it. What is put later
/// is younger than the mark, and not meant.
struct Removal: Sendable {
  let number: UInt64
  let namespace: UInt16
  /// Nil: all.
  let pattern: [UInt8]?
  /// Younger entries are not meant.
  let youngest: UInt64
  let madeAt: Microseconds
  private let matches: KeyMatch?

  /// So many at once; every lookup asks each of them.
  static let countMax = 8

  init(
    number: UInt64, namespace: UInt16, pattern: [UInt8]?, youngest: UInt64, madeAt: Microseconds,
    _ settings: CacheStoreSettings
  ) {
    self.number = number
    self.namespace = namespace
    self.pattern = pattern
    self.youngest = youngest
    self.madeAt = madeAt
    matches = pattern.map(settings.match)
  }

  /// Nil when a byte is not what was written.
  init?(_ record: borrowing Record, _ settings: CacheStoreSettings) {
    let value = record.value
    guard record.key.byteCount == 8, value.byteCount >= 27 else { return nil }
    let number: UInt64 = record.key.integer(at: 0)
    guard Checksum.leads(value, seed: number) else { return nil }
    self.init(
      number: number, namespace: value.integer(at: 24),
      pattern: value.byte(at: 26) == 0 ? nil : [UInt8](value.extracting(27..<value.byteCount)),
      youngest: value.integer(at: 8), madeAt: value.integer(at: 16), settings)
  }

  func encode() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8)
    bytes.append(integer: youngest)
    bytes.append(integer: madeAt)
    bytes.append(integer: namespace)
    bytes.append(pattern == nil ? 0 : 1)
    bytes.append(contentsOf: pattern ?? [])
    bytes.seal(seed: number)
    return bytes
  }

  /// True if an entry may be meant, without a look at its key.
  func reaches(namespace: UInt16, recency: UInt64) -> Bool {
    namespace == self.namespace && recency <= youngest
  }

  /// Of an entry that it reaches.
  func means(_ fullKey: RawSpan, _ metadata: RawSpan) -> Bool { matches?(fullKey, metadata) ?? true }

  /// True if its maker should be done with it by now, or the machine was started anew.
  func isAbandoned(now: Microseconds, after patience: Microseconds) -> Bool {
    madeAt > now || now - madeAt >= patience
  }
}

extension CacheWriter {
  /// In one transaction: so that it takes some milliseconds.
  private var visitsMax: Int { 10 * settings.removedAtOnce }

  /// Removes a namespace's entries that the pattern means; nil: all. What is left of them stands behind a mark.
  mutating func remove(
    namespace name: String, pattern: [UInt8]?
  ) throws(StoreError) -> (left: Sweep?, BatchReport) {
    var left: Sweep?
    let report = try inTransaction { writer, transaction throws(StoreError) in
      try writer.fenceAll(at: MonotonicClock.now, &transaction)
      guard let namespace = writer.namespaces.first(where: { $0.name == name }) else { return }
      let total = try transaction.size(of: writer.databases.entries).records
      if pattern == nil, namespace.entries >= total,
        try transaction.hasWholeLargeValues(in: writer.databases.bodies)
      {
        return try writer.removeEverything(&transaction)
      }
      let removal = Removal(
        number: writer.newRemovalNumber, namespace: namespace.number, pattern: pattern,
        youngest: try writer.youngestUse(of: namespace.number, transaction), madeAt: MonotonicClock.now,
        writer.settings)
      guard let key = try writer.remove(removal, from: nil, &transaction) else { return }
      try transaction.put(
        removal.encode().rawBytes, at: RecordKey(integer: removal.number), in: writer.databases.removals)
      left = Sweep(number: removal.number, next: key)
    }
    return (left, report)
  }

  /// Never used before, or a process that goes on with another of the same number would end this one too early.
  private var newRemovalNumber: UInt64 {
    max((removals.map(\.number).max() ?? 0) + 1, UInt64(max(MonotonicClock.now, 0)))
  }

  /// Goes on with what a mark means; nil when it is done.
  mutating func sweep(_ sweep: Sweep) throws(StoreError) -> (left: Sweep?, BatchReport) {
    var left: Sweep?
    let report = try inTransaction { writer, transaction throws(StoreError) in
      guard let removal = writer.removals.first(where: { $0.number == sweep.number }) else { return }
      if let key = try writer.remove(removal, from: sweep.next, &transaction) {
        left = Sweep(number: sweep.number, next: key)
      } else {
        try transaction.remove(at: RecordKey(integer: sweep.number), in: writer.databases.removals)
      }
    }
    return (left, report)
  }

  /// Where the removal of what a mark means goes on.
  struct Sweep: Equatable {
    let number: UInt64
    var next: KeyDigest?
  }

  /// Answers where it goes on; nil when it is done.
  private mutating func remove(
    _ removal: Removal, from start: KeyDigest?, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> KeyDigest? {
    var meant: [KeyDigest] = []
    var last: KeyDigest?
    var visits = 0
    try transaction.forEach(from: start?.recordKey, in: databases.entries) { record in
      guard visits < visitsMax, meant.count < settings.removedAtOnce else { return false }
      visits += 1
      guard let key = KeyDigest(record.key) else { return true }
      last = key
      // A damaged entry belongs to nobody; it goes as well.
      guard let entry = EntryRecord(record.value, key: key) else {
        meant.append(key)
        return true
      }
      if removal.reaches(namespace: entry.namespace, recency: entry.recency),
        isMeant(entry, by: removal, transaction)
      {
        meant.append(key)
      }
      return true
    }
    let isEnd = visits < visitsMax && meant.count < settings.removedAtOnce
    for key in meant { try remove(key, &transaction) }
    return isEnd ? nil : last
  }

  private func isMeant(
    _ entry: borrowing EntryRecord, by removal: Removal, _ transaction: borrowing WriteTransaction
  ) -> Bool {
    if removal.pattern == nil { return true }
    let headBytes = entry.keyBytes + entry.metadataBytes
    if entry.isHeadInline {
      let start = EntryRecord.headerBytes
      return removal.means(
        entry.bytes.extracting(start..<(start + entry.keyBytes)),
        entry.bytes.extracting((start + entry.keyBytes)..<(start + headBytes)))
    }
    // Without its large value the entry is worth nothing.
    guard let value = try? transaction.value(at: RecordKey(integer: entry.bodyID), in: databases.bodies),
      value.byteCount >= headBytes
    else { return true }
    return removal.means(
      value.extracting(first: entry.keyBytes), value.extracting(entry.keyBytes..<headBytes))
  }

  /// The marks of all processes. What is used from now on is younger than all of them.
  mutating func loadRemovals(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    var loaded: [Removal] = []
    if try transaction.size(of: databases.removals).records > 0 {
      let settings = settings
      try transaction.forEach(in: databases.removals) { record in
        if let removal = Removal(record, settings) { loaded.append(removal) }
        return true
      }
    }
    removals = loaded
    for removal in removals { lastRecency = max(lastRecency, removal.youngest) }
  }
}

extension RawSpan {
  func begins(with prefix: [UInt8]) -> Bool {
    byteCount >= prefix.count && extracting(first: prefix.count).isEqual(to: prefix)
  }
}
