internal import Synchronization

/// A body between the loop, which writes it, and a task, which reads it. So many bytes stand in it at most; then the loop
/// keeps the rest, and soon stops reading from the network.
final class BodyPipe: Sendable {
  static let bytesMax = 512 << 10
  /// For so many a reader that waits is woken in the middle of a turn of the loop; for fewer at its end.
  private static let batchBytes = 256 << 10

  /// What a reader finds.
  enum Piece {
    case bytes([UInt8])
    /// The end, and how it came.
    case end(Result<NetworkResponse, NetworkError>)
    case nothing
  }

  private struct State {
    var head: ResponseHead?
    var bytesExpected: Int64?
    var bytes: [UInt8] = []
    /// What the reader was given last. If he has let go of it by the next time, its memory is filled again: new memory
    /// for each piece costs more than to copy into it.
    var given: [UInt8] = []
    /// The loop was refused some, and wants to hear of room.
    var isLoopWaiting = false
    /// True if no reader is left.
    var isLeft = false
    var result: Result<NetworkResponse, NetworkError>?
    var readers: [CheckedContinuation<Void, Never>] = []

    mutating func give() -> [UInt8] {
      swap(&bytes, &given)
      // Of one who keeps all pieces, each gets memory of its own: no more of it than four times what the last piece took.
      bytes.removeAll(keepingCapacity: result == nil && bytes.capacity <= 4 * bytes.count)
      return given
    }
  }

  private let state = Mutex(State())

  // MARK: The loop

  func open(_ head: ResponseHead, bytesExpected: Int64?) {
    change { state in
      state.head = head
      state.bytesExpected = bytesExpected
    }
  }

  /// Takes some of the bytes and answers how many; all, once no reader is left. A reader that waits hears of few of them by
  /// `tell`: to wake it costs more than to copy them.
  func write(_ bytes: RawSpan) -> Int {
    let (taken, isBatch) = state.withLock { state in
      if state.isLeft { return (bytes.byteCount, false) }
      let taken = min(bytes.byteCount, Self.bytesMax - state.bytes.count)
      if taken < bytes.byteCount { state.isLoopWaiting = true }
      state.bytes.append(bytes.extracting(..<taken))
      return (taken, state.bytes.count >= Self.batchBytes)
    }
    if isBatch { tell() }
    return taken
  }

  /// Wakes a reader that waits for what was written.
  func tell() { change { _ in } }

  // MARK: Any thread

  /// Its operation has ended.
  func end(_ result: Result<NetworkResponse, NetworkError>) { change { $0.result = result } }

  private func change(_ body: (inout State) -> Void) {
    let readers = state.withLock { state in
      body(&state)
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume() }
  }

  // MARK: The reader

  /// True when its operation has ended.
  var hasEnded: Bool { state.withLock { $0.result != nil } }

  var result: Result<NetworkResponse, NetworkError>? { state.withLock { $0.result } }

  /// True when the loop waits for room.
  func leave() -> Bool {
    state.withLock { state in
      state.isLeft = true
      (state.bytes, state.given) = ([], [])
      defer { state.isLoopWaiting = false }
      return state.isLoopWaiting
    }
  }

  /// All that is there, and whether the loop waits for room.
  func take() -> (piece: Piece, isLoopWaiting: Bool) {
    state.withLock { state in
      guard state.bytes.isEmpty else {
        defer { state.isLoopWaiting = false }
        return (.bytes(state.give()), state.isLoopWaiting)
      }
      if state.result != nil { state.given = [] }
      return (state.result.map { .end($0) } ?? .nothing, false)
    }
  }

  /// Nil until the head is there.
  var opening: (head: ResponseHead, bytesExpected: Int64?)? {
    state.withLock { state in state.head.map { ($0, state.bytesExpected) } }
  }

  /// Returns when something has changed, at once when there is something to be had. `head`: the head counts, too.
  func wait(forHead: Bool) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.result != nil || !state.bytes.isEmpty || forHead && state.head != nil { return true }
        state.readers.append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
  }
}

/// The loop's end of a pipe.
final class PipeSink: Sink {
  private let pipe: BodyPipe
  private let atTurnEnd: (@escaping () -> Void) -> Void
  private var ready: () -> Void = {}
  private var willTell = false
  let isFollowed = true
  private(set) var report = NetworkResponse.StreamReport()

  init(_ pipe: BodyPipe, atTurnEnd: @escaping (@escaping () -> Void) -> Void) {
    self.pipe = pipe
    self.atTurnEnd = atTurnEnd
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) {
    self.ready = ready
    pipe.open(head, bytesExpected: bytesExpected)
  }

  func write(_ bytes: RawSpan) -> Int {
    let taken = pipe.write(bytes)
    report.bytes += Int64(taken)
    if !willTell {
      willTell = true
      atTurnEnd { [self] in
        willTell = false
        pipe.tell()
      }
    }
    return taken
  }

  /// The reader has taken some.
  func didMakeRoom() { ready() }

  func finish(_ failure: NetworkError?) -> SinkProgress { .done }
}
