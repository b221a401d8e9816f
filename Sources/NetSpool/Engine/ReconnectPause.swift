internal import Synchronization

/// The wait before an origin is asked for events again. Who cancels the engine's operations, or shuts it down, ends it: the
/// operation before is over, and the next one not yet there to be told.
final class ReconnectPause: FollowUp {
  private static let least = Duration.milliseconds(500)

  let operation: NetworkOperation
  private let time: Duration
  /// Nil: the time is over.
  private let ended = FirstAnswer<NetworkError?>()

  init(of operation: NetworkOperation, _ time: Duration) {
    self.operation = operation
    self.time = time
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
    if engine.isClosed { end(with: NetworkError(.engineClosed)) }
    let ticket = Later.run(after: time) { [ended] in ended.give(nil) }
    defer { if let ticket { Later.cancel(ticket) } }
    let failure = await withTaskCancellationHandler {
      await ended.value
    } onCancel: {
      ended.give(nil)
    }
    try Task.checkCancellation()
    if let failure { throw failure }
  }

  func end(with failure: NetworkError) { ended.give(failure.about(operation.request.url)) }

  func changePriority(to priority: NetworkRequest.Priority) {}
}
