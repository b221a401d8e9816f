internal import Synchronization

/// The two ranges a lease covers.
@unsafe struct LeaseRanges {
  var metadata: UnsafeRawBufferPointer
  var body: UnsafeRawBufferPointer
  /// True if the bytes stand in memory of their own, not in the map.
  var isCopy = false
}

/// The position of the bytes of one lease, and its readers. Used for one lease after another.
///
/// The thread that looks up, the one that reads and the store thread meet here. What each does is one step on
/// one word: a lock that all leases of a snapshot shared was what hits mostly waited for.
final class Lease: Sendable {
  /// Kept alive by all its leases; it lets go of them when it ends.
  let snapshot: Snapshot
  /// The index among the leases of the snapshot.
  let number: Int
  private let state = Atomic<UInt32>(0)
  // Written before the state says that they count, left alone until it says that nobody needs them.
  private let metadataStart = Atomic<UInt>(0)
  private let metadataBytes = Atomic<Int>(0)
  private let bodyStart = Atomic<UInt>(0)
  private let bodyBytes = Atomic<Int>(0)
  private let bodyID = Atomic<UInt64>(0)
  /// Metadata and body, one behind the other, in memory that all holders of the same body share.
  private let copyStart = Atomic<UInt>(0)
  private let nextEnded = Atomic<Int>(none)

  /// No lease's number.
  static let none = -1
  private static let isUsed: UInt32 = 1
  private static let isCopied: UInt32 = 2
  private static let isPinned: UInt32 = 4
  /// A reader in the map; the bits above count them.
  private static let reader: UInt32 = 8

  init(_ snapshot: Snapshot, number: Int) {
    self.snapshot = snapshot
    self.number = number
  }

  deinit { freeCopy() }

  /// Begins with bytes in the map, which a reader is at if `isBeingRead`.
  func begin(_ ranges: LeaseRanges, bodyID: UInt64, isBeingRead: Bool) {
    self.bodyID.store(bodyID, ordering: .relaxed)
    metadataStart.store(unsafe UInt(bitPattern: ranges.metadata.baseAddress), ordering: .relaxed)
    metadataBytes.store(unsafe ranges.metadata.count, ordering: .relaxed)
    bodyStart.store(unsafe UInt(bitPattern: ranges.body.baseAddress), ordering: .relaxed)
    bodyBytes.store(unsafe ranges.body.count, ordering: .relaxed)
    state.store(Self.isUsed + (isBeingRead ? Self.reader : 0), ordering: .releasing)
  }

  func end() {
    // In one order with `Snapshot.isRetired`: either we see that, or who sets it sees this.
    let before = state.exchange(0, ordering: .sequentiallyConsistent)
    if before & Self.isCopied != 0 { freeCopy() }
  }

  var isUsed: Bool { state.load(ordering: .relaxed) & Self.isUsed != 0 }

  /// The pages of the map are needed.
  var holdsMap: Bool {
    let now = state.load(ordering: .sequentiallyConsistent)
    return now & Self.isUsed != 0 && (now & Self.isCopied == 0 || now >= Self.reader)
  }

  /// The bytes stay where they are for as long as the lease lives.
  var isSettled: Bool { state.load(ordering: .acquiring) & (Self.isCopied | Self.isPinned) != 0 }

  var isPinned: Bool { state.load(ordering: .acquiring) & Self.isPinned != 0 }

  private var isMovable: Bool { isMovable(state.load(ordering: .acquiring)) }

  private func isMovable(_ state: UInt32) -> Bool {
    state & (Self.isUsed | Self.isCopied | Self.isPinned) == Self.isUsed
  }
}

// MARK: Being used again

extension Lease {
  /// The number of the one that comes behind it in a list of ended ones.
  var nextFree: Int { nextEnded.load(ordering: .relaxed) }

  /// Puts it in front of a list whose first number that is.
  func join(_ first: borrowing Atomic<Int>) {
    var next = first.load(ordering: .relaxed)
    while true {
      nextEnded.store(next, ordering: .relaxed)
      let (joined, found) = first.weakCompareExchange(
        expected: next, desired: number, ordering: .releasing)
      if joined { return }
      next = found
    }
  }
}

// MARK: For the holder

extension Lease {
  /// Reads the bytes, in the map or in the copy.
  func access<Result, Problem: Error>(
    _ body: (LeaseRanges) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    checkProcess()
    return try unsafe snapshot.access(self, body)
  }

  /// The bytes, valid as long as the lease.
  var pinned: LeaseRanges {
    checkProcess()
    return unsafe snapshot.pin(self)
  }

  func release() {
    if snapshot.isOurs { snapshot.release(self) }
  }

  private func checkProcess() {
    precondition(
      snapshot.isOurs,
      "NetSpool: cached bytes were read in a child of fork(2); read them before, or open the cache there")
  }
}

// MARK: Reading

extension Lease {
  /// The address of the bytes. Those in the map stay there until `leave`, those in a copy until the end.
  func enter() -> LeaseRanges {
    var now = state.load(ordering: .acquiring)
    while now & Self.isCopied == 0 {
      let (entered, found) = state.weakCompareExchange(
        expected: now, desired: now + Self.reader, ordering: .acquiring)
      if entered { return unsafe mapped }
      now = found
    }
    return unsafe copied
  }

  /// Only after `enter` gave bytes in the map.
  func leave() { state.subtract(Self.reader, ordering: .sequentiallyConsistent) }

  /// The present address of the bytes.
  var ranges: LeaseRanges {
    unsafe state.load(ordering: .acquiring) & Self.isCopied == 0 ? mapped : copied
  }

  private var mapped: LeaseRanges {
    unsafe ranges(
      UnsafeRawPointer(bitPattern: metadataStart.load(ordering: .relaxed)),
      UnsafeRawPointer(bitPattern: bodyStart.load(ordering: .relaxed)), isCopy: false)
  }

  private var copied: LeaseRanges {
    let start = unsafe UnsafeRawPointer(bitPattern: copyStart.load(ordering: .relaxed))
    return unsafe ranges(
      start, start.map { unsafe $0 + metadataBytes.load(ordering: .relaxed) }, isCopy: true)
  }

  private func ranges(
    _ metadata: UnsafeRawPointer?, _ body: UnsafeRawPointer?, isCopy: Bool
  ) -> LeaseRanges {
    unsafe LeaseRanges(
      metadata: UnsafeRawBufferPointer(start: metadata, count: metadataBytes.load(ordering: .relaxed)),
      body: UnsafeRawBufferPointer(start: body, count: bodyBytes.load(ordering: .relaxed)), isCopy: isCopy)
  }
}

// MARK: Moving

/// Under the snapshot's lock.
extension Lease {
  func pin() { state.bitwiseOr(Self.isPinned, ordering: .acquiringAndReleasing) }

  /// Copies the bytes out of the map, unless they may not move, the lease has ended, or there is no room for a copy.
  /// False if so.
  func copyOut() -> Bool {
    guard isMovable, let copy = unsafe snapshot.copies.take(bodyID.load(ordering: .relaxed), mapped) else {
      return false
    }
    if settle(in: copy) { return true }
    snapshot.copies.give(copy)
    return false
  }

  /// False when it has ended meanwhile.
  private func settle(in copy: UInt) -> Bool {
    copyStart.store(copy, ordering: .relaxed)
    var now = state.load(ordering: .acquiring)
    while isMovable(now) {
      let (copied, found) = state.weakCompareExchange(
        expected: now, desired: now | Self.isCopied, ordering: .acquiringAndReleasing)
      if copied { return true }
      now = found
    }
    copyStart.store(0, ordering: .relaxed)
    return false
  }

  private func freeCopy() {
    let start = copyStart.exchange(0, ordering: .relaxed)
    if start != 0 { snapshot.copies.give(start) }
  }
}
