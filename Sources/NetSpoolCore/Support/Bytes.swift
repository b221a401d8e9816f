/// Moving borrowed bytes in and out of arrays: the unsafe step, once.
extension Array where Element == UInt8 {
  package mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { buffer in unsafe append(contentsOf: buffer) }
  }

  package init(_ bytes: RawSpan) {
    self = []
    append(bytes)
  }
}
