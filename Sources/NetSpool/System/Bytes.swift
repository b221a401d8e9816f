/// Moving borrowed bytes in and out of arrays: the unsafe step, once.
extension Array where Element == UInt8 {
  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in unsafe append(contentsOf: buffer) }
  }

  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
  }

  init(_ bytes: RawSpan) {
    self = []
    append(bytes)
  }

  /// A view of the elements, valid as long as the array is borrowed.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }
}
