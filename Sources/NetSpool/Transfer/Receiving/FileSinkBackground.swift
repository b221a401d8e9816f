import Synchronization

/// A `FileSink`'s half on the worker: the file, opened by the first job, and the digest.
///
/// The jobs of one sink share a lane, so the lock is never waited for.
final class FileSinkBackground: Sendable {
  private struct State: ~Copyable {
    var writer: FileWriter?
    var digest: SHA256?
    var failure: SinkFailure?
  }

  private let state: Mutex<State>
  private let target: FileTarget
  private let placement: FileWriter.Placement
  private let bytesExpected: Int64?

  init(target: FileTarget, placement: FileWriter.Placement, bytesExpected: Int64?, digests: Bool) {
    self.target = target
    self.placement = placement
    self.bytesExpected = bytesExpected
    state = Mutex(State(digest: digests ? SHA256() : nil))
  }

  /// Writes a buffer; after a failure, nothing any more.
  func write(_ buffer: AlignedBuffer) -> SinkFailure? {
    state.withLock { state in
      attempt(&state) { state throws(SinkFailure) in try add(buffer, to: &state) }
    }
  }

  /// Writes what is left and publishes; the digest if there is to be one.
  func finish(_ last: AlignedBuffer?) -> Result<[UInt8]?, SinkFailure> {
    state.withLock { state in
      let failure = attempt(&state) { state throws(SinkFailure) in
        try add(last, to: &state)
        try state.writer.take()?.publish()
      }
      if let failure { return .failure(failure) }
      return .success(state.digest?.finish())
    }
  }

  /// Letting go of an unpublished writer removes its file.
  func abandon() { state.withLock { $0.writer = nil } }

  private func add(_ buffer: AlignedBuffer?, to state: inout State) throws(SinkFailure) {
    if state.writer == nil {
      state.writer = try FileWriter(target, placement: placement, bytesExpected: bytesExpected)
    }
    try buffer?.withBytes { bytes throws(SinkFailure) in
      try state.writer?.write(bytes)
      state.digest?.update(bytes)
    }
  }

  /// Runs a step unless an earlier one failed, and gives the file up when it fails.
  private func attempt(
    _ state: inout State, _ step: (inout State) throws(SinkFailure) -> Void
  ) -> SinkFailure? {
    if let failure = state.failure { return failure }
    do {
      try step(&state)
      return nil
    } catch {
      state.writer = nil
      state.failure = error
      return error
    }
  }
}
