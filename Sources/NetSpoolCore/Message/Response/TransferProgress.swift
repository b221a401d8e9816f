/// How far a body has come.
package struct TransferProgress: Sendable, Hashable {
  package var done: Int64
  /// Nil when the length is not known.
  package var total: Int64?
  /// Bytes a second, since the start.
  package var bytesPerSecond: Double

  package init(done: Int64, total: Int64?, bytesPerSecond: Double) {
    self.done = done
    self.total = total
    self.bytesPerSecond = bytesPerSecond
  }
}
