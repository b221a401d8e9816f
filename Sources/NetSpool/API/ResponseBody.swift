/// The bytes of a body, held once however many copies of the response there are.
public struct ResponseBody: Sendable {
  enum Storage: Sendable {
    case bytes([UInt8])
    /// Borrowed, without a copy: the cache's, straight from its map.
    case lent(any LentBytes)
  }

  var storage: Storage

  package init(_ bytes: [UInt8]) { storage = .bytes(bytes) }
  init(lent bytes: any LentBytes) { storage = .lent(bytes) }

  static let empty = ResponseBody([])

  /// The number of bytes.
  public var count: Int {
    switch storage {
    case .bytes(let bytes): bytes.count
    case .lent(let bytes): bytes.count
    }
  }

  /// True when reading the bytes waits for no disk.
  var isInMemory: Bool {
    switch storage {
    case .bytes: true
    case .lent(let bytes): bytes.isInMemory
    }
  }

  /// A copy, unless they are an array already.
  var array: [UInt8] {
    switch storage {
    case .bytes(let bytes): bytes
    case .lent(let bytes): unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
  }

  /// A view of the bytes without copying, valid while the body is.
  public var bytes: RawSpan {
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

  func copy(of range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    withBytes(range) { copy.append($0) }
    return copy
  }

  func hasSameBytes(as other: ResponseBody) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
  }

  /// Calls a closure with the bytes, without copying. The pointer must not leave it.
  public func withUnsafeBytes<Result, Thrown: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    switch storage {
    case .bytes(let bytes): try unsafe bytes.span.bytes.withUnsafeBytes(body)
    case .lent(let bytes): try unsafe bytes.withUnsafeBytes(body)
    }
  }
}

extension ResponseBody: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of bytes.
  public var endIndex: Int { count }

  /// A byte by its place.
  public subscript(position: Int) -> UInt8 {
    switch storage {
    case .bytes(let bytes): bytes[position]
    case .lent(let bytes): unsafe bytes.withUnsafeBytes { unsafe $0[position] }
    }
  }

  /// Calls a closure with the bytes, without copying: how the standard library copies, compares and decodes them.
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    switch storage {
    case .bytes(let bytes): try unsafe bytes.withContiguousStorageIfAvailable(body)
    case .lent(let bytes):
      try unsafe bytes.withUnsafeBytes { try unsafe body($0.assumingMemoryBound(to: UInt8.self)) }
    }
  }
}

extension [UInt8] {
  /// The bytes of a body.
  public init(_ body: ResponseBody) { self = body.array }
}
