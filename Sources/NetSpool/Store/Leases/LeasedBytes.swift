/// A stored body, borrowed: its bytes stand in the map of the file, or in the memory of a put that is not yet
/// written. Nothing is copied as long as the lease is short.
///
/// Any thread. The bytes stay the same for as long as the lease lives, whatever is put, removed or evicted
/// meanwhile: one that is held for more than two seconds is given a copy of them, unnoticed.
@safe final class LeasedBytes: LentBytes {
  /// Nil for bytes in memory.
  private let lease: Lease?
  private let metadata: [UInt8]
  private let body: [UInt8]
  /// Bytes of the body.
  let count: Int

  init(_ lease: Lease, count: Int) {
    self.lease = lease
    (metadata, body) = ([], [])
    self.count = count
  }

  init(metadata: [UInt8], body: [UInt8]) {
    lease = nil
    (self.metadata, self.body) = (metadata, body)
    count = body.count
  }

  deinit { lease?.release() }

  /// Lends the bytes to `use`; while it runs they stay where they are. The way to read that costs the store
  /// least. Traps in a child of fork(2), where the file may change underneath.
  func withUnsafeBytes<Result, Problem: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    guard let lease else {
      let bytes = body
      return try unsafe bytes.rawBytes.withUnsafeBytes(use)
    }
    return try unsafe lease.access { ranges throws(Problem) in try unsafe use(ranges.body) }
  }

  /// The bytes, for as long as the lease lives. The first call settles where they stand: they pin their
  /// place in the file, or are copied when too many are pinned already.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let lease else {
        let bytes = body
        return unsafe _overrideLifetime(bytes.rawBytes, borrowing: self)
      }
      let span = unsafe RawSpan(_unsafeBytes: lease.pinned.body)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// What was stored beside the body, lent like the body.
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
