/// The bytes of a body, held once and shared by everyone who was given the response.
struct Body: Sendable {
  enum Storage: Sendable {
    case bytes([UInt8])
    /// Somebody else's, without a copy: the cache's, straight from its map.
    case lent(any LentBytes)
  }

  var storage: Storage

  init(_ bytes: [UInt8]) { storage = .bytes(bytes) }
  init(lent bytes: any LentBytes) { storage = .lent(bytes) }

  static let empty = Body([])

  var count: Int {
    switch storage {
    case .bytes(let bytes): bytes.count
    case .lent(let bytes): bytes.count
    }
  }

  /// A copy, unless they are an array already.
  var array: [UInt8] {
    switch storage {
    case .bytes(let bytes): bytes
    case .lent(let bytes): unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
  }

  /// A view of the bytes, valid while the body is borrowed.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      switch storage {
      case .bytes(let bytes): unsafe _overrideLifetime(bytes.span.bytes, borrowing: self)
      case .lent(let bytes): unsafe _overrideLifetime(bytes.rawBytes, borrowing: self)
      }
    }
  }

  /// Lends some of the bytes for the time of the call, so the lender may move them afterwards.
  func withBytes(_ range: Range<Int>, _ body: (RawSpan) -> Void) {
    unsafe withUnsafeBytes { bytes in
      unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[range])))
    }
  }

  func hasSameBytes(as other: Body) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
  }

  func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch storage {
    case .bytes(let bytes): try unsafe bytes.span.bytes.withUnsafeBytes(body)
    case .lent(let bytes): try unsafe bytes.withUnsafeBytes(body)
    }
  }
}
