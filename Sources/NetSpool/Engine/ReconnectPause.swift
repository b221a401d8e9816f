internal import Synchronization

/// The wait before an origin is asked for events again. Who cancels the engine's operations, or shuts it down, ends it: the
/// operation before is over, and the next one not yet there to be told.
final class ReconnectPause: FollowUp {
  private static let least = Duration.milliseconds(500)

  let operation: NetworkOperation
  private let sleep: Task<Void, any Error>
  private let failure = Mutex<NetworkError?>(nil)

  init(of operation: NetworkOperation, _ time: Duration) {
    self.operation = operation
    sleep = Task { try await Task.sleep(for: time) }
  }

  /// - Parameters:
  ///   - retry: what the origin has asked for.
  ///   - failures: connections in a row that brought nothing.
  ///   - hadEvent: the last one brought an event. One that brings none may be asked for no end of times.
  static func time(retry: Duration, failures: Int, hadEvent: Bool) -> Duration {
    let first = hadEvent ? retry : max(retry, least)
    return min(first * (1 << min(failures, 10)), max(first, .seconds(60)))
  }

  /// Throws what has ended it before its time.
  func pass() async throws {
    let engine = operation.engine
    engine.follow(self)
    defer { engine.leave(self, hasFollowed: false) }
    if engine.isClosed.load(ordering: .acquiring) { end(with: NetworkError(.engineClosed)) }
    await withTaskCancellationHandler {
      _ = await sleep.result
    } onCancel: {
      sleep.cancel()
    }
    try Task.checkCancellation()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  func end(with failure: NetworkError) {
    self.failure.withLock { $0 = $0 ?? failure.about(operation.request.url) }
    sleep.cancel()
  }

  func changePriority(to priority: NetworkRequest.Priority) {}
}
