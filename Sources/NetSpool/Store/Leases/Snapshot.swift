internal import Glibc
internal import Synchronization

/// The store as one commit left it, shared by all lookups until the next commit, and by the leases that came
/// from them.
///
/// While it lives, LMDB must not reuse a page freed since. So a snapshot that is no longer current and has
/// grown old has its leases' bytes copied out, and ends as soon as no reader is in its pages at that moment.
/// A body whose `rawBytes` are asked for is copied at once, as it cannot be moved afterwards. Where there is no room for
/// another copy it pins the snapshot.
@safe final class Snapshot: Sendable {
  let commit: UInt64
  /// See `CacheStoreCore.removalMark`.
  let removalMark: UInt64
  /// No other of this process has the same.
  private let number: UInt64
  private static let lastNumber = Atomic<UInt64>(0)
  let began: Microseconds
  let copies: BodyCopies
  private let fileBytes: Int
  private let onDisk: (@Sendable () -> Void)?
  private let environment: Environment
  private let mappedPages: MappedPages
  /// What stands in the trees and is not to be found.
  private let removals: [Removal]
  private let state: BusyMutex<State>
  /// The first of a list of leases that have ended. Taken as a whole, so a lease that joins it needs no lock.
  private let ended = Atomic<Int>(Lease.none)
  /// True if it is not current any more: then the last lease ends it.
  private let isRetired = Atomic(false)
  /// Has the store thread call `endIfUnused`; false when there is none any more.
  private let endSoon: @Sendable () -> Bool

  private struct State: ~Copyable {
    /// Nil once it has ended.
    var transaction: ReadTransaction?
    var slots = LeaseSlots()
  }

  /// - Parameter pending: what this process has removed, whatever the store says.
  init(_ core: CacheStoreCore, _ pending: PendingRemovals) throws(StoreError) {
    environment = core.environment
    mappedPages = core.mappedPages
    copies = core.copies
    onDisk = core.settings.onDisk
    endSoon = { [weak core] in core?.endViewsSoon() ?? false }
    removalMark = pending.mark
    let transaction = try environment.read()
    var removals = try pending.marks(for: core, in: transaction)
    try transaction.forEach(in: core.databases.removals) { record in
      if let removal = Removal(record, core.settings) { removals.append(removal) }
      return true
    }
    self.removals = removals
    commit = transaction.identifier
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    fileBytes = environment.fileBytes
    began = MonotonicClock.now
    state = BusyMutex(State(transaction: transaction))
  }

  var hasEnded: Bool { state.withLock { $0.transaction == nil } }
  var leases: Int { state.withLock { $0.slots.count } }
  /// False in a child of fork(2).
  var isOurs: Bool { environment.isOurs }
}

// MARK: Finding

extension Snapshot {
  enum Found {
    case nothing
    /// The entry stored under the key is damaged.
    case damaged
    case entry(FoundEntry)
    /// The snapshot is over: take another.
    case ended
  }

  /// `copying`: the bytes are copied at once, so that the lease does not hold the snapshot. An entry that is
  /// not `verified` must go to `verify(_:)` next, and holds the snapshot until then.
  func find(
    _ key: StoreKey, _ databases: CacheDatabases, verified: VerifiedBodies, copying: Bool
  ) -> Found {
    state.withLock { state in
      guard state.transaction != nil else { return .ended }
      switch unsafe mapped(key, databases, state.transaction!) {
      case .nothing: return .nothing
      case .damaged: return .damaged
      case .entry(let facts, let ranges):
        let isVerified = facts.large == nil || verified.contains(facts.bodyID)
        let lease = unsafe lend(ranges, facts, &state, isBeingRead: !isVerified, copying: copying)
        return .entry(
          FoundEntry(
            facts: facts, lease: lease, place: unsafe StoredPosition(number, key.digest, facts, ranges),
            isVerified: isVerified))
      }
    }
  }

  /// Lends once more what this snapshot has found before. Nil where it has not, is over, would have to verify, or another
  /// thread reads just now. Never waits.
  func find(again place: StoredPosition, verified: VerifiedBodies) -> Lease? {
    guard place.snapshot == number, place.facts.large == nil || verified.contains(place.facts.bodyID) else {
      return nil
    }
    let lease: Lease?? = state.withLockIfAvailable { state in
      guard state.transaction != nil else { return nil }
      return unsafe lend(place.ranges, place.facts, &state, isBeingRead: false, copying: false)
    }
    return lease ?? nil
  }

  private func lend(
    _ ranges: LeaseRanges, _ facts: EntryFacts, _ state: inout State, isBeingRead: Bool, copying: Bool
  ) -> Lease {
    let lease = state.slots.take(for: self) { ended.exchange(Lease.none, ordering: .acquiring) }
    unsafe lease.begin(ranges, bodyID: facts.bodyID, isBeingRead: isBeingRead)
    if copying { _ = lease.copyOut() }
    return lease
  }

  @unsafe private enum Mapped {
    case nothing, damaged
    case entry(EntryFacts, LeaseRanges)
  }

  /// True if what was asked for at a moment is older than a change that the store knows of.
  func holdsBack(_ resource: UInt64, askedAt moment: Microseconds, _ databases: CacheDatabases) -> Bool {
    state.withLock { state in
      guard state.transaction != nil, moment != .max else { return false }
      return Fences.keys(of: resource).contains { key in
        guard let value = try? state.transaction!.value(at: RecordKey(integer: key), in: databases.fences)
        else {
          return false
        }
        return Fences.moment(value).map { moment <= $0 } ?? false
      }
    }
  }

  /// Under what a resource is stored.
  func digests(of resource: UInt64, _ databases: CacheDatabases) -> [KeyDigest] {
    state.withLock { state in
      guard state.transaction != nil else { return [] }
      var digests: [KeyDigest] = []
      try? state.transaction!.forEach(from: KeyDigest.first(of: resource).recordKey, in: databases.entries) {
        record in
        guard KeyDigest.resource(of: record.key) == resource, let key = KeyDigest(record.key) else {
          return false
        }
        digests.append(key)
        return true
      }
      return digests
    }
  }

  private func mapped(
    _ key: StoreKey, _ databases: CacheDatabases, _ transaction: borrowing ReadTransaction
  ) -> Mapped {
    do throws(StoreError) {
      guard let value = try transaction.value(at: key.digest.recordKey, in: databases.entries) else {
        return unsafe .nothing
      }
      guard let entry = EntryRecord(value, key: key.digest) else { return unsafe .damaged }
      guard let ranges = unsafe ranges(of: entry) else { return unsafe .damaged }
      let storedKey = unsafe UnsafeRawBufferPointer(
        start: ranges.metadata.baseAddress! - entry.keyBytes, count: entry.keyBytes)
      // That two keys share a digest is far less likely than damage; either way the entry must go.
      guard unsafe RawSpan(_unsafeBytes: storedKey).isEqual(to: key.fullKey) else { return unsafe .damaged }
      if !removals.isEmpty, unsafe isRemoved(entry, ranges) { return unsafe .nothing }
      return unsafe .entry(entry.facts, ranges)
    } catch {
      return unsafe error.isDamage ? .damaged : .nothing
    }
  }

  private func isRemoved(_ entry: borrowing EntryRecord, _ ranges: LeaseRanges) -> Bool {
    let key = unsafe UnsafeRawBufferPointer(
      start: ranges.metadata.baseAddress! - entry.keyBytes, count: entry.keyBytes)
    let (namespace, recency) = (entry.namespace, entry.recency)
    return removals.contains { removal in
      guard removal.reaches(namespace: namespace, recency: recency) else { return false }
      return unsafe removal.means(
        RawSpan(_unsafeBytes: key), RawSpan(_unsafeBytes: ranges.metadata))
    }
  }

  /// The key stands before the metadata. Nil when a page number cannot be true.
  private func ranges(of entry: borrowing EntryRecord) -> LeaseRanges? {
    let (keyBytes, metadataBytes, bodyBytes) = (entry.keyBytes, entry.metadataBytes, entry.bodyBytes)
    let bodyOffset = Int(entry.bodyOffset)
    let record = unsafe entry.bytes.withUnsafeBytes { unsafe $0.baseAddress! + EntryRecord.headerBytes }
    var (head, body) = unsafe (record, record + keyBytes + metadataBytes)
    if entry.isLarge {
      let address = unsafe environment.address(
        ofLargeValueAt: entry.largePage, bytes: bodyOffset + bodyBytes, fileBytes: fileBytes)
      guard let address = unsafe address else { return nil }
      unsafe body = address + bodyOffset
      if !entry.isHeadInline { unsafe head = address }
    }
    return unsafe LeaseRanges(
      metadata: UnsafeRawBufferPointer(start: head + keyBytes, count: metadataBytes),
      body: UnsafeRawBufferPointer(start: body, count: bodyBytes))
  }

  /// Reads all of an entry's large value once and compares: the page header with what it must say, and the
  /// bytes with their checksum. Once for each entry found without having been verified.
  func verify(_ entry: FoundEntry) -> Bool {
    let bytes = entry.facts.largeBytes
    defer { leave(entry.lease, bytesRead: bytes) }
    guard let large = entry.facts.large else { return true }
    let address = unsafe environment.address(ofLargeValueAt: large.page, bytes: bytes, fileBytes: fileBytes)
    guard let address = unsafe address else { return false }
    let header = unsafe RawSpan(
      _unsafeStart: address - LargeValue.headerBytes, byteCount: LargeValue.headerBytes)
    let pages = LargeValue.pages(forBytes: bytes, pageBytes: environment.pageBytes)
    return LargeValue.isWhole(header: header, page: UInt64(large.page), pages: pages)
      && Checksum.of(unsafe RawSpan(_unsafeStart: address, byteCount: bytes)) == large.checksum
  }
}

// MARK: Leases

extension Snapshot {
  /// Reads the bytes of a lease, in the map or in its copy. No lock is held meanwhile.
  func access<Result, Problem: Error>(
    _ lease: Lease, _ body: (LeaseRanges) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    let ranges = unsafe lease.enter()
    if let onDisk, unsafe !ranges.isCopy { onDisk() }
    defer { if unsafe !ranges.isCopy { leave(lease, bytesRead: unsafe ranges.body.count) } }
    return try unsafe body(ranges)
  }

  private func leave(_ lease: Lease, bytesRead: Int) {
    mappedPages.count(bytesRead, faults: 1)
    lease.leave()
    noteUnused()
  }

  /// The bytes of a lease, valid as long as the lease: they are copied, or their place is pinned.
  func pin(_ lease: Lease) -> LeaseRanges {
    unsafe state.withLock { state in
      if !lease.isSettled {
        if !lease.copyOut() { lease.pin() }
        endIfUnused(&state)
        unsafe mappedPages.count(lease.ranges.body.count, faults: 1)
      }
      return unsafe lease.ranges
    }
  }

  func release(_ lease: Lease) {
    lease.end()
    lease.join(ended)
    noteUnused()
  }

  // MARK: Ending

  /// Retires the snapshot: no lookup uses it from now on. True when it has ended at once.
  func retire() -> Bool {
    state.withLock { state in
      isRetired.store(true, ordering: .sequentiallyConsistent)
      endIfUnused(&state)
      return state.transaction == nil
    }
  }

  /// Copies the bytes of all leases out of the map, one lease per turn of the lock. True when it has ended.
  func copyOut() -> Bool {
    var start = 0
    while true {
      let next: Int? = state.withLock { state in
        defer { endIfUnused(&state) }
        return state.slots.copyOutNext(from: start)
      }
      guard let next else { return hasEnded }
      start = next
    }
  }

  /// A lease has ended, on whatever thread: who may not wait, for the disk or for who reads just now, has another end the
  /// snapshot.
  private func noteUnused() {
    guard isRetired.load(ordering: .sequentiallyConsistent) else { return }
    guard SystemThread.isOurs else { return endIfUnused() }
    if endSoon() { return }
    do {
      try SystemThread.start(name: "netspool-closing") { [self] in endIfUnused() }.detach()
    } catch {
      endIfUnused()
    }
  }

  func endIfUnused() {
    if isRetired.load(ordering: .sequentiallyConsistent) { state.withLock { endIfUnused(&$0) } }
  }

  private func endIfUnused(_ state: inout State) {
    guard isRetired.load(ordering: .relaxed), !state.slots.needMap() else { return }
    state.transaction = nil
    // Those that are still used keep this alive, and must not be kept in turn.
    state.slots = LeaseSlots()
  }
}

/// An entry and the lease on its bytes that goes with it.
struct FoundEntry {
  let facts: EntryFacts
  let lease: Lease
  let place: StoredPosition
  /// True if its large value has been compared with its checksum.
  let isVerified: Bool
}

/// Where a snapshot has an entry: who asks the same snapshot again need not search. Another one knows nothing of it.
struct StoredPosition: Sendable {
  fileprivate let snapshot: UInt64
  let digest: KeyDigest
  let facts: EntryFacts
  private let metadata: (start: UInt, bytes: Int)
  private let body: (start: UInt, bytes: Int)

  fileprivate init(_ snapshot: UInt64, _ digest: KeyDigest, _ facts: EntryFacts, _ ranges: LeaseRanges) {
    self.snapshot = snapshot
    self.digest = digest
    self.facts = facts
    metadata = unsafe (UInt(bitPattern: ranges.metadata.baseAddress), ranges.metadata.count)
    body = unsafe (UInt(bitPattern: ranges.body.baseAddress), ranges.body.count)
  }

  fileprivate var ranges: LeaseRanges {
    unsafe LeaseRanges(
      metadata: UnsafeRawBufferPointer(
        start: UnsafeRawPointer(bitPattern: metadata.start), count: metadata.bytes),
      body: UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: body.start), count: body.bytes))
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
