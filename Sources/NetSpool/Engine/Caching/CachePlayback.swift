/// A stored body on its way into the streams of an operation, as fast as they take it.
final class CachePlayback {
  /// What is written before the streams are asked whether they keep up.
  private static let pieceBytes = 256 << 10

  private let body: ResponseBody
  private let fanout: SinkFanout
  private var offset = 0
  private var isWriting = false
  private var done: (() -> Void)?

  init(_ body: ResponseBody, into fanout: SinkFanout) {
    self.body = body
    self.fanout = fanout
  }

  /// Opens the streams and writes; `done` is called once all is written, perhaps at once.
  func start(_ head: ResponseHead, done: @escaping () -> Void) {
    self.done = done
    fanout.open(head, bytesExpected: Int64(body.count))
    fanout.onRoom = { [weak self] in self?.advance() }
    advance()
  }

  /// Nobody wants the rest.
  func stop() {
    done = nil
    fanout.onRoom = {}
  }

  private func advance() {
    guard !isWriting else { return }
    isWriting = true
    while offset < body.count, !fanout.isCongested { writePiece() }
    isWriting = false
    guard offset == body.count, let done else { return }
    stop()
    done()
  }

  private func writePiece() {
    let end = min(body.count, offset + Self.pieceBytes)
    body.withBytes(offset..<end) { fanout.write($0) }
    offset = end
  }
}
