internal import Synchronization

/// A file writer that a stream object can hold: for who calls a `FileDownloadStream` by hand, on any thread,
/// and wants the same atomic publishing.
final class SharedFileWriter: Sendable {
  private let path: String
  private let placement: FileWriter.Placement
  private let writer = Mutex<FileWriter?>(nil)

  init(path: String, placement: FileWriter.Placement) {
    self.path = path
    self.placement = placement
  }

  func open(bytesExpected: Int64?) throws(SinkFailure) {
    var fresh: FileWriter? = try FileWriter(
      try FileTarget(path), placement: placement, bytesExpected: bytesExpected)
    writer.withLock { $0 = fresh.take() }
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) {
    try writer.withLock { writer throws(SinkFailure) in try writer?.write(bytes) }
  }

  func close(publishing: Bool) throws(SinkFailure) {
    let last = writer.withLock { $0.take() }
    guard let last else { return }
    if publishing { try last.publish() } else { last.abandon() }
  }
}
