/// A stored body, borrowed: its bytes stand in the map of the file, or in the memory of a put that is not yet
/// written. Nothing is copied as long as the lease is short.
///
/// Any thread. The bytes stay the same for as long as the lease lives, whatever is put, removed or evicted
/// meanwhile: one that is held for more than two seconds is given a copy of them, unnoticed.
@safe package final class LeasedBytes: LentBytes {
  private enum Place {
    case snapshot(Snapshot, slot: Int)
    case memory(metadata: [UInt8], body: [UInt8])
  }

  private let place: Place
  /// Bytes of the body.
  package let count: Int

  init(_ snapshot: Snapshot, slot: Int, count: Int) {
    place = .snapshot(snapshot, slot: slot)
    self.count = count
  }

  init(metadata: [UInt8], body: [UInt8]) {
    place = .memory(metadata: metadata, body: body)
    count = body.count
  }

  deinit {
    if case .snapshot(let snapshot, let slot) = place, snapshot.isOurs { snapshot.release(slot) }
  }

  /// Lends the bytes to `body`; while it runs they stay where they are. The way to read that costs the store
  /// least. Traps in a child of fork(2), where the file may change underneath.
  package func withUnsafeBytes<Result, Problem: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    switch place {
    case .memory(_, let bytes):
      return try unsafe bytes.rawBytes.withUnsafeBytes(body)
    case .snapshot(let snapshot, let slot):
      check(snapshot)
      return try unsafe snapshot.access(slot) { ranges throws(Problem) in try unsafe body(ranges.body) }
    }
  }

  /// The bytes, for as long as the lease lives. The first call settles where they stand: they pin their
  /// place in the file, or are copied when too many are pinned already.
  package var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      switch place {
      case .memory(_, let bytes):
        return unsafe _overrideLifetime(bytes.rawBytes, borrowing: self)
      case .snapshot(let snapshot, let slot):
        check(snapshot)
        let span = unsafe RawSpan(_unsafeBytes: snapshot.pin(slot).body)
        return unsafe _overrideLifetime(span, borrowing: self)
      }
    }
  }

  /// What was stored beside the body, lent like the body.
  package func withMetadata<Result, Problem: Error>(
    _ body: (RawSpan) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    switch place {
    case .memory(let bytes, _):
      return try body(bytes.rawBytes)
    case .snapshot(let snapshot, let slot):
      check(snapshot)
      return try unsafe snapshot.access(slot) { ranges throws(Problem) in
        try body(unsafe RawSpan(_unsafeBytes: ranges.metadata))
      }
    }
  }

  private func check(_ snapshot: Snapshot) {
    precondition(
      snapshot.isOurs,
      "NetSpool: cached bytes were read in a child of fork(2); read them before, or open the cache there")
  }
}
