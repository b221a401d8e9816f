/// The bytes of a body, held once however many copies of the response there are.
public struct ResponseBytes: Sendable {
  enum Storage: Sendable {
    case bytes([UInt8])
    /// A long one of the cache, or a part of one, in its file.
    case mapped(MappedFile, Range<Int>)
  }

  var storage: Storage

  package init(_ bytes: [UInt8]) { storage = .bytes(bytes) }
  init(_ file: MappedFile) { storage = .mapped(file, 0..<file.count) }

  static let empty = ResponseBytes([])

  /// The number of bytes.
  public var count: Int {
    switch storage {
    case .bytes(let bytes): bytes.count
    case .mapped(_, let range): range.count
    }
  }

  /// True when reading the bytes waits for no disk.
  var isInMemory: Bool { if case .bytes = storage { true } else { false } }

  /// A copy, unless they are an array already.
  var array: [UInt8] {
    switch storage {
    case .bytes(let bytes): bytes
    case .mapped: unsafe withUnsafeBytes { unsafe Array($0) }
    }
  }

  /// A view of the bytes without copying, valid while the body is.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      switch storage {
      case .bytes(let bytes): unsafe _overrideLifetime(bytes.span.bytes, borrowing: self)
      case .mapped(let file, let range):
        unsafe _overrideLifetime(file.rawBytes.extracting(range), borrowing: self)
      }
    }
  }

  /// Calls a closure with some of the bytes, without copying.
  func withBytes(_ range: Range<Int>, _ body: (RawSpan) -> Void) { body(bytes.extracting(range)) }

  /// A part of a long body is no copy.
  func part(_ range: Range<Int>) -> ResponseBytes {
    guard case .mapped(let file, let all) = storage else { return ResponseBytes(copy(of: range)) }
    var part = self
    part.storage = .mapped(file, (all.lowerBound + range.lowerBound)..<(all.lowerBound + range.upperBound))
    return part
  }

  func copy(of range: Range<Int>) -> [UInt8] { [UInt8](bytes.extracting(range)) }

  func hasSameBytes(as other: ResponseBytes) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
  }

  /// Calls a closure with the bytes, without copying. The pointer must not leave it.
  public func withUnsafeBytes<Result, Thrown: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    switch storage {
    case .bytes(let bytes): try unsafe bytes.span.bytes.withUnsafeBytes(body)
    case .mapped(let file, let range):
      try unsafe file.withUnsafeBytes { bytes throws(Thrown) in
        try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[range]))
      }
    }
  }
}

extension ResponseBytes: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of bytes.
  public var endIndex: Int { count }

  /// A byte by its place.
  public subscript(position: Int) -> UInt8 {
    switch storage {
    case .bytes(let bytes): bytes[position]
    case .mapped: unsafe withUnsafeBytes { unsafe $0[position] }
    }
  }

  /// Calls a closure with the bytes, without copying: how the standard library copies, compares and decodes them.
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    switch storage {
    case .bytes(let bytes): try unsafe bytes.withContiguousStorageIfAvailable(body)
    case .mapped: try unsafe withUnsafeBytes { try unsafe body($0.assumingMemoryBound(to: UInt8.self)) }
    }
  }
}

extension [UInt8] {
  /// The bytes of a body.
  public init(_ body: ResponseBytes) { self = body.array }
}
