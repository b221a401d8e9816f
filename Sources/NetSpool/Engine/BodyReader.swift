internal import Synchronization

/// A reader's hold on the operation whose body it reads.
final class BodyReader: Sendable {
  let operation: NetworkOperation
  private let pipe = BodyPipe()
  /// Tells the sink, on its loop, that there is room.
  private let onRoom = Mutex<(@Sendable () -> Void)?>(nil)
  /// Of an answer that the engine's own rule takes though it is none, the page, which is in memory, has been read.
  private let hasReadPage = Atomic(false)

  /// Throws `.invalidRequest` (`enqueued`) for one whose body may have gone by, and how it ended if it has failed.
  init(_ operation: NetworkOperation) throws(NetworkError) {
    self.operation = operation
    let pipe = pipe
    let isAttached = operation.attach(
      StreamAttachment(isEssential: true, close: { _ in }) { [weak self] services in
        let sink = PipeSink(pipe, atTurnEnd: services.context.loop.atTurnEnd)
        let (reference, port) = (LoopReference(sink), services.context.port)
        self?.onRoom.withLock { $0 = { port.perform { _ in reference.object?.didMakeRoom() } } }
        return sink
      })
    guard isAttached else {
      var failure = NetworkError(.invalidRequest, cause: .enqueued)
      if case .failure(let ending)? = operation.shared.withLock({ $0.outcome }) { failure = ending }
      pipe.end(.failure(failure))
      throw failure
    }
    operation.onEnd { pipe.end($0) }
  }

  /// Leaves the pipe, as no caller can read any more.
  deinit { leave() }

  func leave() {
    if pipe.leave() { tellOfRoom() }
    if !pipe.hasEnded { operation.cancel() }
  }

  private func tellOfRoom() { onRoom.withLock { $0 }?() }

  /// Nil until the operation has ended.
  var result: Result<NetworkResponse, NetworkError>? { pipe.result }

  /// The head of an answer whose body is about to come; throws how the operation ended without one.
  func head() async throws -> (head: ResponseHead, bytesExpected: Int64?) {
    while true {
      if let opening = pipe.opening { return opening }
      if let result = pipe.result {
        let answer = try Self.get(result)
        return (answer.head, Int64(answer.body.count))
      }
      await wait(forHead: true)
    }
  }

  /// The next bytes; nil at the end of a whole body.
  func next() async throws -> [UInt8]? {
    while true {
      // Whoever is slower than the network never waits.
      if Task.isCancelled, !pipe.hasEnded {
        leave()
        throw CancellationError()
      }
      let (piece, isLoopWaiting) = pipe.take()
      if isLoopWaiting { tellOfRoom() }
      switch piece {
      case .bytes(let bytes): return bytes
      case .end(let result):
        let answer = try Self.get(result)
        if answer.body.isEmpty || pipe.opening != nil { return nil }
        return hasReadPage.exchange(true, ordering: .relaxed) ? nil : [UInt8](answer.body)
      case .nothing: await wait(forHead: false)
      }
    }
  }

  private func wait(forHead: Bool) async {
    await withTaskCancellationHandler {
      await pipe.wait(forHead: forHead)
    } onCancel: {
      operation.cancel()
    }
  }

  private static func get(_ result: Result<NetworkResponse, NetworkError>) throws -> NetworkResponse {
    if case .failure(let error) = result, error.code == .cancelled { try Task.checkCancellation() }
    return try result.get()
  }
}
