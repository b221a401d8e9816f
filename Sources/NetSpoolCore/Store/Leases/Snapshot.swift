internal import Glibc
internal import Synchronization

/// The store as one commit left it, shared by all lookups until the next commit, and by the leases that came
/// from them.
///
/// While it lives, LMDB must not reuse a page freed since. So a snapshot that is no longer current and has
/// grown old has its leases' bytes copied out, and ends as soon as nobody reads its pages at that moment.
/// Only a body whose `rawBytes` were asked for cannot be moved: it pins the snapshot. There may be
/// `pinnedMax` of these; beyond, such a body is copied when it is asked for.
@safe final class Snapshot: Sendable {
  let commit: UInt64
  let began: Microseconds
  private let book: LeaseBook
  private let fileBytes: Int
  private let environment: Environment
  private let state: Mutex<State>

  private struct State: ~Copyable {
    /// Nil once it has ended.
    var transaction: ReadTransaction?
    var slots = LeaseSlots()
    /// Accesses to the map that are going on.
    var inside = 0
    /// It is not current any more: the last lease ends it.
    var isRetired = false
  }

  init(_ environment: Environment, book: LeaseBook) throws(StoreError) {
    self.environment = environment
    self.book = book
    let transaction = try environment.read()
    commit = transaction.identifier
    fileBytes = environment.fileBytes
    began = MonotonicClock.now
    state = Mutex(State(transaction: transaction))
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
    /// What is stored under the key cannot be believed.
    case damaged
    case entry(FoundEntry)
    /// The snapshot is over: take another.
    case ended
  }

  /// `copying`: the bytes are copied at once, so that the lease does not hold the snapshot.
  func find(_ key: StoreKey, _ databases: CacheDatabases, copying: Bool) -> Found {
    state.withLock { state in
      guard state.transaction != nil else { return .ended }
      switch unsafe mapped(key, databases, state.transaction!) {
      case .nothing: return .nothing
      case .damaged: return .damaged
      case .entry(let facts, let ranges):
        let slot = unsafe state.slots.add(ranges)
        if copying { state.slots.copyOut(slot) }
        return .entry(FoundEntry(digest: key.digest, facts: facts, slot: slot))
      }
    }
  }

  @unsafe private enum Mapped {
    case nothing, damaged
    case entry(EntryFacts, LeaseRanges)
  }

  private func mapped(
    _ key: StoreKey, _ databases: CacheDatabases, _ transaction: borrowing ReadTransaction
  ) -> Mapped {
    do throws(StoreError) {
      guard let value = try transaction.value(at: key.digest.recordKey, in: databases.entries) else {
        return unsafe .nothing
      }
      guard let entry = EntryRecord(value, key: key.digest) else { return unsafe .damaged }
      guard entry.key.isEqual(to: key.fullKey) else { return unsafe .nothing }
      guard let ranges = unsafe ranges(of: entry) else { return unsafe .damaged }
      return unsafe .entry(entry.facts, ranges)
    } catch {
      return unsafe error.isDamage ? .damaged : .nothing
    }
  }

  private func ranges(of entry: borrowing EntryRecord) -> LeaseRanges? {
    let bodyBytes = entry.bodyBytes
    let (metadata, inline) = (entry.metadataOffset, entry.inlineBodyOffset)
    let metadataBytes = entry.metadataBytes
    let page = entry.bodyPage
    return unsafe entry.bytes.withUnsafeBytes { bytes -> LeaseRanges? in
      let start = bytes.baseAddress!
      let large = LargeValue(page: page)
      let body =
        unsafe page == 0
        ? start + inline : environment.address(of: large, bytes: bodyBytes, fileBytes: fileBytes)
      guard let body = unsafe body else { return nil }
      return unsafe LeaseRanges(
        metadata: UnsafeRawBufferPointer(start: start + metadata, count: metadataBytes),
        body: UnsafeRawBufferPointer(start: body, count: bodyBytes))
    }
  }

  /// Reads the body of a lease once and compares: the page header with what it must say, and the bytes with
  /// their checksum.
  func isBodyWhole(_ entry: FoundEntry) -> Bool {
    let facts = entry.facts
    if facts.bodyPage == 0 { return true }
    return unsafe access(entry.slot) { ranges in
      let header = LargeValue.headerBytes
      let body = unsafe ranges.body
      guard unsafe !ranges.isCopy else {
        return Checksum.of(unsafe RawSpan(_unsafeBytes: body)) == facts.bodyChecksum
      }
      let pageHeader = unsafe RawSpan(_unsafeStart: body.baseAddress! - header, byteCount: header)
      let pages = LargeValue.pages(
        forBytes: max(facts.bodyBytes, environment.pageBytes / 2), pageBytes: environment.pageBytes)
      return LargeValue.isWhole(header: pageHeader, page: UInt64(facts.bodyPage), pages: pages)
        && Checksum.of(unsafe RawSpan(_unsafeBytes: body)) == facts.bodyChecksum
    }
  }
}

// MARK: Leases

extension Snapshot {
  /// Reads the bytes of a lease, in the map or in its copy. No lock is held meanwhile.
  func access<Result, Problem: Error>(
    _ slot: Int, _ body: (LeaseRanges) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    let ranges = unsafe state.withLock { state in
      let ranges = unsafe state.slots.ranges(slot)
      if unsafe !ranges.isCopy { state.inside += 1 }
      return unsafe ranges
    }
    defer { if unsafe !ranges.isCopy { left() } }
    return try unsafe body(ranges)
  }

  private func left() {
    state.withLock { state in
      state.inside -= 1
      endIfUnused(&state)
    }
  }

  /// The bytes of a lease, valid as long as the lease: their place is pinned, or they are copied.
  func pin(_ slot: Int) -> LeaseRanges {
    unsafe state.withLock { state in
      if !state.slots.isSettled(slot) {
        if state.slots.pins > 0 || book.pin() { state.slots.pin(slot) } else { state.slots.copyOut(slot) }
        endIfUnused(&state)
      }
      return unsafe state.slots.ranges(slot)
    }
  }

  func release(_ slot: Int) {
    state.withLock { state in
      let hadPins = state.slots.pins > 0
      state.slots.remove(slot)
      if hadPins && state.slots.pins == 0 { book.unpin() }
      endIfUnused(&state)
    }
  }

  // MARK: Ending

  /// From now on no lookup uses it. True when it has ended at once.
  func retire() -> Bool {
    state.withLock { state in
      state.isRetired = true
      endIfUnused(&state)
      return state.transaction == nil
    }
  }

  /// Copies the bytes of all leases out of the map, one lease per turn of the lock. True when it has ended.
  func copyOut() -> Bool {
    while true {
      let next: Bool? = state.withLock { state in
        guard let slot = state.slots.nextToCopy else { return state.transaction == nil }
        state.slots.copyOut(slot)
        endIfUnused(&state)
        return nil
      }
      if let next { return next }
    }
  }

  private func endIfUnused(_ state: inout State) {
    guard state.isRetired, state.slots.mapped == 0, state.inside == 0 else { return }
    state.transaction = nil
  }
}

/// An entry and the lease on its bytes that goes with it.
struct FoundEntry {
  let digest: KeyDigest
  let facts: EntryFacts
  let slot: Int
}

/// How many snapshots are pinned, of all snapshots of a store.
final class LeaseBook: Sendable {
  private let pinned = Atomic<Int>(0)
  let pinnedMax: Int

  init(pinnedMax: Int) { self.pinnedMax = pinnedMax }

  /// False when there are enough already.
  func pin() -> Bool {
    if pinned.add(1, ordering: .relaxed).newValue <= pinnedMax { return true }
    unpin()
    return false
  }

  func unpin() { pinned.subtract(1, ordering: .relaxed) }

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
