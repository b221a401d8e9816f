internal import Glibc
internal import Synchronization

/// The store as one commit left it, for all lookups until the next commit.
///
/// While it lives, LMDB must not use a page again that was freed since. So it ends as soon as it is not the current one and no
/// lookup reads in it; what a lookup has found is a copy, or a file.
@safe final class Snapshot: Sendable {
  let commit: UInt64
  /// See `CacheStoreCore.removalMark`.
  let removalMark: UInt64
  /// By the wall clock.
  let began: UInt64
  private let fileBytes: Int
  fileprivate let environment: Environment
  /// What stands in the trees and is not to be found.
  private let removals: [Removal]
  /// Nil once it has ended.
  private let transaction: BusyMutex<ReadTransaction?>
  /// What lookups are reading, one each.
  private let readers = Atomic(0)
  /// True if it is not current any more: then the last reader ends it.
  private let isRetired = Atomic(false)

  /// - Parameter pending: what this process has removed, whatever the store says.
  init(_ core: CacheStoreCore, _ pending: PendingRemovals) throws(StoreError) {
    environment = core.environment
    removalMark = pending.mark
    let transaction = try environment.read()
    var removals = try pending.marks(for: core, in: transaction)
    try transaction.forEach(in: core.databases.removals) { record in
      if let removal = Removal(record, core.settings) { removals.append(removal) }
      return true
    }
    self.removals = removals
    commit = transaction.identifier
    began = UInt64(max(WallClock.microseconds, 0))
    fileBytes = environment.fileBytes
    self.transaction = BusyMutex(transaction)
  }

  /// No lookup finds it from now on.
  func retire() {
    isRetired.store(true, ordering: .sequentiallyConsistent)
    endIfUnused()
  }

  private func endIfUnused() {
    transaction.withLock { transaction in
      if isRetired.load(ordering: .sequentiallyConsistent),
        readers.load(ordering: .sequentiallyConsistent) == 0
      {
        transaction = nil
      }
    }
  }
}

// MARK: Finding

extension Snapshot {
  enum Found {
    case nothing
    /// The entry stored under the key is damaged.
    case damaged
    case entry(FoundEntry)
  }

  /// An entry that is found must go to `read` next. Only while it is the current one.
  func find(_ key: StoreKey, _ databases: CacheDatabases, verified: VerifiedBodies) -> Found {
    transaction.withLock { transaction in
      guard transaction != nil else { return .nothing }
      var found = find(key, databases, transaction!)
      if case .entry(var entry) = found {
        entry.isVerified = entry.facts.isInline || verified.contains(entry.facts.bodyID)
        found = .entry(entry)
        readers.add(1, ordering: .sequentiallyConsistent)
      }
      return found
    }
  }

  /// Calls a closure that reads an entry's bytes, which stay what they are meanwhile. No lock is held.
  func read<Result>(_ entry: FoundEntry, _ body: (FoundEntry) -> Result) -> Result {
    defer { leave() }
    return body(entry)
  }

  /// The same for what was found before. Nil when it has been retired.
  fileprivate func readAgain<Result>(_ body: () -> Result) -> Result? {
    readers.add(1, ordering: .sequentiallyConsistent)
    defer { leave() }
    // In one order with `retire`: either this sees it retired, or it is seen to be read.
    return isRetired.load(ordering: .sequentiallyConsistent) ? nil : body()
  }

  private func leave() {
    if readers.subtract(1, ordering: .sequentiallyConsistent).newValue == 0,
      isRetired.load(ordering: .sequentiallyConsistent)
    {
      endIfUnused()
    }
  }

  /// True if what was asked for at a moment is older than a change that the store knows of.
  func holdsBack(_ resource: UInt64, askedAt moment: Microseconds, _ databases: CacheDatabases) -> Bool {
    transaction.withLock { transaction in
      guard transaction != nil, moment != .max else { return false }
      return Fences.keys(of: resource).contains { key in
        guard let value = try? transaction!.value(at: RecordKey(integer: key), in: databases.fences)
        else {
          return false
        }
        return Fences.moment(value).map { moment <= $0 } ?? false
      }
    }
  }

  /// Under what a resource is stored.
  func digests(of resource: UInt64, _ databases: CacheDatabases) -> [KeyDigest] {
    transaction.withLock { transaction in
      guard transaction != nil else { return [] }
      var digests: [KeyDigest] = []
      try? transaction!.forEach(from: KeyDigest.first(of: resource).recordKey, in: databases.entries) {
        record in
        guard let key = KeyDigest(record.key), key.first == resource else { return false }
        digests.append(key)
        return true
      }
      return digests
    }
  }

  private func find(
    _ key: StoreKey, _ databases: CacheDatabases, _ transaction: borrowing ReadTransaction
  ) -> Found {
    do throws(StoreError) {
      guard let value = try transaction.value(at: key.digest.recordKey, in: databases.entries) else {
        return .nothing
      }
      guard let record = EntryRecord(value, key: key.digest), let entry = entry(record) else {
        return .damaged
      }
      // That two keys share a digest is far less likely than damage; either way the entry must go.
      guard entry.key.isEqual(to: key.fullKey) else { return .damaged }
      if !removals.isEmpty, isRemoved(entry) { return .nothing }
      return .entry(entry)
    } catch {
      return error.isDamage ? .damaged : .nothing
    }
  }

  private func isRemoved(_ entry: FoundEntry) -> Bool {
    removals.contains { removal in
      removal.reaches(namespace: entry.facts.namespace, recency: entry.facts.recency)
        && removal.means(entry.key, entry.metadata)
    }
  }

  /// Nil when a page number cannot be true.
  private func entry(_ record: borrowing EntryRecord) -> FoundEntry? {
    let facts = record.facts
    let headBytes = record.keyBytes + record.metadataBytes
    let start = unsafe record.bytes.withUnsafeBytes { unsafe $0.baseAddress! + EntryRecord.headerBytes }
    var (head, body) = unsafe (start, start + headBytes)
    if let large = facts.large {
      let address = unsafe environment.address(
        ofLargeValueAt: large.page, bytes: facts.largeBytes, fileBytes: fileBytes)
      guard let address = unsafe address else { return nil }
      unsafe body = address + large.bodyOffset
      if !record.isHeadInline { unsafe head = address }
    }
    return unsafe FoundEntry(
      self, facts, head: UnsafeRawBufferPointer(start: head, count: headBytes), keyBytes: record.keyBytes,
      body: UnsafeRawBufferPointer(start: body, count: facts.isFile ? 0 : facts.bodyBytes))
  }

  /// Reads all of an entry's large value once and compares: the page header with what it must say, and the
  /// bytes with their checksum.
  fileprivate func isWhole(_ facts: EntryFacts, _ large: EntryFacts.Large) -> Bool {
    let bytes = facts.largeBytes
    let address = unsafe environment.address(ofLargeValueAt: large.page, bytes: bytes, fileBytes: fileBytes)
    guard let address = unsafe address else { return false }
    let header = unsafe RawSpan(
      _unsafeStart: address - LargeValue.headerBytes, byteCount: LargeValue.headerBytes)
    let pages = LargeValue.pages(forBytes: bytes, pageBytes: environment.pageBytes)
    return LargeValue.isWhole(header: header, page: UInt64(large.page), pages: pages)
      && Checksum.of(unsafe RawSpan(_unsafeStart: address, byteCount: bytes)) == large.checksum
  }
}

/// An entry that a lookup has found, for as long as it reads it (`Snapshot.read`).
@safe struct FoundEntry {
  let snapshot: Snapshot
  let facts: EntryFacts
  /// Its body needs no comparison with its checksum.
  fileprivate(set) var isVerified = false
  /// The full key and the metadata behind it.
  private let head: UnsafeRawBufferPointer
  private let keyBytes: Int
  /// Empty if the body is in a file.
  private let body: UnsafeRawBufferPointer

  fileprivate init(
    _ snapshot: Snapshot, _ facts: EntryFacts, head: UnsafeRawBufferPointer, keyBytes: Int,
    body: UnsafeRawBufferPointer
  ) {
    (self.snapshot, self.facts, self.keyBytes) = (snapshot, facts, keyBytes)
    unsafe (self.head, self.body) = (head, body)
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let key = unsafe RawSpan(_unsafeBytes: head).extracting(first: keyBytes)
      return unsafe _overrideLifetime(key, borrowing: self)
    }
  }

  var metadata: RawSpan {
    @_lifetime(borrow self)
    get {
      let metadata = unsafe RawSpan(_unsafeBytes: head).extracting(droppingFirst: keyBytes)
      return unsafe _overrideLifetime(metadata, borrowing: self)
    }
  }

  var copiedBody: [UInt8] { unsafe [UInt8](body) }

  var place: StoredPlace {
    StoredPlace(
      snapshot, recency: facts.recency,
      body: facts.isFile ? nil : (start: unsafe UInt(bitPattern: body.baseAddress), count: facts.bodyBytes))
  }

  /// True if the pages of its own that it has are what was written; once for each body.
  var isWhole: Bool { facts.large.map { snapshot.isWhole(facts, $0) } ?? true }
}

/// Where a snapshot has an entry: who asks the same snapshot again need not search. Another one knows nothing of it.
final class StoredPlace: Sendable {
  let snapshot: Snapshot
  /// When the entry was used last before, as it says itself.
  let recency: UInt64
  /// Nil if the body is a file.
  private let body: (start: UInt, count: Int)?

  fileprivate init(_ snapshot: Snapshot, recency: UInt64, body: (start: UInt, count: Int)?) {
    (self.snapshot, self.recency, self.body) = (snapshot, recency, body)
  }

  /// Nil for a file, when the snapshot is over, and when the disk would have to be waited for, unless that is allowed.
  func copyBody(waiting: Bool) -> [UInt8]? {
    guard let body else { return nil }
    return snapshot.readAgain {
      snapshot.environment.copy(from: body.start, count: body.count, waiting: waiting)
    }
      ?? nil
  }
}

extension RawSpan {
  func isEqual(to bytes: [UInt8]) -> Bool {
    guard byteCount == bytes.count else { return false }
    guard byteCount > 0 else { return true }
    return unsafe withUnsafeBytes { own in
      unsafe bytes.withUnsafeBytes { unsafe memcmp(own.baseAddress!, $0.baseAddress!, own.count) == 0 }
    }
  }
}
