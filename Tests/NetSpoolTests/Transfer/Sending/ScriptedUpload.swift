import NetSpool
import Synchronization

/// An upload stream that gives what it was told to give, and counts its calls.
final class ScriptedUpload: UploadStream {
  private struct State {
    var left: [UploadChunk] = []
    var opens = 0
    var closes = 0
  }

  let length: Int64?
  let isReopenable: Bool
  private let script: [UploadChunk]
  private let refusal: (any Error)?
  private let onRead: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameter refusal: is thrown when it is opened.
  init(
    _ script: [UploadChunk], length: Int64? = nil, isReopenable: Bool = true, refusal: (any Error)? = nil,
    onRead: @escaping @Sendable () -> Void = {}
  ) {
    (self.script, self.length) = (script, length)
    (self.isReopenable, self.refusal, self.onRead) = (isReopenable, refusal, onRead)
  }

  var opens: Int { state.withLock { $0.opens } }
  var closes: Int { state.withLock { $0.closes } }

  func open() throws {
    state.withLock { state in
      state.opens += 1
      state.left = script.reversed()
    }
    if let refusal { throw refusal }
  }

  func read(atMost count: Int) -> UploadChunk {
    onRead()
    return state.withLock { $0.left.popLast() ?? .end }
  }

  func close() { state.withLock { $0.closes += 1 } }
}
