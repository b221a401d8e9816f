/// The bytes of a body, held once and shared by everyone who was given the response.
package struct Body: Sendable {
  package enum Storage: Sendable {
    case bytes([UInt8])
  }

  package var storage: Storage

  package init(_ bytes: [UInt8]) { storage = .bytes(bytes) }

  package var count: Int {
    switch storage {
    case .bytes(let bytes): bytes.count
    }
  }

  package var array: [UInt8] {
    switch storage {
    case .bytes(let bytes): bytes
    }
  }

  /// A view of the bytes, valid while the body is borrowed.
  package var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      switch storage {
      case .bytes(let bytes): unsafe _overrideLifetime(bytes.span.bytes, borrowing: self)
      }
    }
  }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe rawBytes.withUnsafeBytes(body)
  }
}
