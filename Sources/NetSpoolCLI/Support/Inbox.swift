import Dispatch
import Synchronization

/// Brings events from other threads to one that waits for them.
final class Inbox<Event: Sendable>: Sendable {
  private let events = Mutex<[Event]>([])
  private let news = DispatchSemaphore(value: 0)

  func put(_ event: Event) {
    events.withLock { $0.append(event) }
    news.signal()
  }

  /// The next one; nil once the time has come.
  func next(until deadline: DispatchTime = .distantFuture) -> Event? {
    guard news.wait(timeout: deadline) == .success else { return nil }
    return events.withLock { $0.removeFirst() }
  }
}
