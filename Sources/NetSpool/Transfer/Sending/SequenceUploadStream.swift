internal import Synchronization

/// An upload stream that says when it has bytes again, so that it need not be asked.
protocol WakingUploadStream: UploadStream {
  /// Before the first `read`. Any thread may call `ready`.
  func onReady(_ ready: @escaping @Sendable () -> Void)
}

/// The elements of an asynchronous sequence as a body. A task reads one ahead of the network.
final class SequenceUploadStream<Chunks: AsyncSequence & Sendable>: WakingUploadStream
where Chunks.Element == [UInt8] {
  private struct State {
    var chunk: [UInt8]?
    var hasEnded = false
    var failure: (any Error)?
    /// The loop was told to wait.
    var isLoopWaiting = false
    var producer: CheckedContinuation<Void, Never>?
    var ready: (@Sendable () -> Void)?
    var task: Task<Void, Never>?
    var isOpened = false
    var isClosed = false
  }

  let length: Int64?
  private let chunks: Chunks
  private let state = Mutex(State())

  init(_ chunks: Chunks, length: Int64?) {
    self.chunks = chunks
    self.length = length
  }

  /// What a sequence has given it does not give again.
  var isReopenable: Bool { false }

  func onReady(_ ready: @escaping @Sendable () -> Void) { state.withLock { $0.ready = ready } }

  func open() throws {
    let isFirst = state.withLock { state in
      defer { state.isOpened = true }
      return !state.isOpened
    }
    guard isFirst else { throw NetworkError(.uploadSourceFailed, reason: "a sequence can be sent once") }
    let task = Task { [self] in await produce() }
    state.withLock { $0.task = task }
  }

  func read(atMost count: Int) throws -> UploadChunk {
    let (chunk, producer) = state.withLock { state in
      defer { (state.chunk, state.producer) = (nil, nil) }
      state.isLoopWaiting = state.chunk == nil && !state.hasEnded
      return (state.chunk, state.producer)
    }
    producer?.resume()
    if let chunk { return .bytes(chunk) }
    let (hasEnded, failure) = state.withLock { ($0.hasEnded, $0.failure) }
    if let failure { throw failure }
    return hasEnded ? .end : .pause
  }

  func close() {
    let (task, producer) = state.withLock { state in
      state.isClosed = true
      state.ready = nil
      defer { (state.task, state.producer) = (nil, nil) }
      return (state.task, state.producer)
    }
    task?.cancel()
    producer?.resume()
  }

  private func produce() async {
    do {
      for try await chunk in chunks where !chunk.isEmpty {
        await give(chunk)
        if state.withLock({ $0.isClosed }) { return }
      }
      end(nil)
    } catch { end(error) }
  }

  /// Returns when it has been taken.
  private func give(_ chunk: [UInt8]) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state -> (@Sendable () -> Void)? in
        if state.isClosed { return { continuation.resume() } }
        state.chunk = chunk
        state.producer = continuation
        defer { state.isLoopWaiting = false }
        return state.isLoopWaiting ? state.ready : nil
      }
      ready?()
    }
  }

  private func end(_ failure: (any Error)?) {
    let ready = state.withLock { state -> (@Sendable () -> Void)? in
      state.failure = failure
      state.hasEnded = true
      defer { state.isLoopWaiting = false }
      return state.isLoopWaiting ? state.ready : nil
    }
    ready?()
  }
}
