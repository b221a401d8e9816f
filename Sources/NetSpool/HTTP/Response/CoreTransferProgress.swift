/// How far a body has come.
struct CoreTransferProgress: Sendable, Hashable {
  var done: Int64
  /// Nil when the length is not known.
  var total: Int64?
  /// Bytes a second, since the start.
  var bytesPerSecond: Double

  init(done: Int64, total: Int64?, bytesPerSecond: Double) {
    self.done = done
    self.total = total
    self.bytesPerSecond = bytesPerSecond
  }
}
