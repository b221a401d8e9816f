import Dispatch
import Synchronization

/// Brings a waiter's id and its task's cancellation together, whichever comes first.
final class WaitTicket: Sendable {
  private struct Content {
    var id: Int?
    var isCancelled = false
  }

  private let content = Mutex(Content())

  /// Notes the id; true when the task was cancelled before.
  func set(_ id: Int) -> Bool {
    content.withLock {
      $0.id = id
      return $0.isCancelled
    }
  }

  /// Notes the cancellation; the id, if there is one yet.
  func cancel() -> Int? {
    content.withLock {
      $0.isCancelled = true
      return $0.id
    }
  }
}

extension Duration {
  /// For Dispatch, in nanoseconds; at most a day, at least none.
  var dispatchInterval: DispatchTimeInterval {
    let bounded = min(max(self, .zero), .seconds(86_400))
    return .nanoseconds(Int(bounded / .nanoseconds(1)))
  }
}
