/// A stored body, borrowed: its bytes stand in the map of the file, or in the memory or the file of a put that is
/// not yet written. Nothing is copied as long as the lease is short.
///
/// Any thread. The bytes stay the same for as long as the lease lives, whatever is put, removed or evicted
/// meanwhile: one that is held for more than two seconds is given a copy of them, unnoticed.
@safe final class LeasedBytes: LentBytes {
  /// Nil for bytes in memory.
  private let lease: Lease?
  private let metadata: [UInt8]
  private let body: PendingBody
  /// Bytes of the body.
  let count: Int

  init(_ lease: Lease, count: Int) {
    self.lease = lease
    (metadata, body) = ([], .bytes([]))
    self.count = count
  }

  init(metadata: [UInt8], body: PendingBody) {
    lease = nil
    (self.metadata, self.body) = (metadata, body)
    count = body.count
  }

  deinit { lease?.release() }

  /// No disk is needed to read them.
  var isInMemory: Bool {
    if case .bytes = body { lease == nil } else { false }
  }

  /// Lends the bytes to `use`; while it runs they stay where they are. The way to read that costs the store
  /// least. Traps in a child of fork(2), where the file may change underneath.
  func withUnsafeBytes<Result, Problem: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    guard let lease else {
      switch body {
      case .bytes(let bytes): return try unsafe bytes.rawBytes.withUnsafeBytes(use)
      case .spooled(let file): return try unsafe file.withUnsafeBytes(use)
      }
    }
    return try unsafe lease.access { ranges throws(Problem) in try unsafe use(ranges.body) }
  }

  /// The bytes, for as long as the lease lives. The first call settles where they stand: in a copy that all share who
  /// hold the body, or in their place in the file when there are too many copies already.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let lease else {
        switch body {
        case .bytes(let bytes): return unsafe _overrideLifetime(bytes.rawBytes, borrowing: self)
        case .spooled(let file): return unsafe _overrideLifetime(file.rawBytes, borrowing: self)
        }
      }
      let span = unsafe RawSpan(_unsafeBytes: lease.pinned.body)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The metadata stored beside the body, lent like the body.
  func withMetadata<Result, Problem: Error>(
    _ use: (RawSpan) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    guard let lease else {
      let bytes = metadata
      return try use(bytes.rawBytes)
    }
    return try unsafe lease.access { ranges throws(Problem) in
      try use(unsafe RawSpan(_unsafeBytes: ranges.metadata))
    }
  }
}

/// The leases of one snapshot. Those that have ended are used again.
struct LeaseSlots: ~Copyable {
  private var all: [Lease] = []
  /// The first of those to be used again; `Lease.nextFree` is the one behind it.
  private var firstFree = Lease.none
  /// All before it need the map no more; only once no lease is begun any more.
  private var checked = 0

  var count: Int { all.count { $0.isUsed } }

  /// A lease to begin with; `ended` gives those that have ended since it was asked last.
  mutating func take(for snapshot: Snapshot, ended: () -> Int) -> Lease {
    if firstFree == Lease.none { firstFree = ended() }
    guard firstFree != Lease.none else { return add(snapshot) }
    let lease = all[firstFree]
    firstFree = lease.nextFree
    return lease
  }

  private mutating func add(_ snapshot: Snapshot) -> Lease {
    let lease = Lease(snapshot, number: all.count)
    all.append(lease)
    return lease
  }

  /// Copies the bytes of the next lease from a place on out of the map. The place behind it; nil when there is
  /// none.
  func copyOutNext(from start: Int) -> Int? {
    guard start < all.count else { return nil }
    return all[start...].firstIndex { $0.copyOut() }.map { $0 + 1 }
  }

  /// True if any needs the map, when no further one will begin.
  mutating func needMap() -> Bool {
    while checked < all.count, !all[checked].holdsMap { checked += 1 }
    return checked < all.count
  }
}
