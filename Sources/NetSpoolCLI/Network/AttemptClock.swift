import NetSpool
import Synchronization

/// `--retry-max-time` of one URL, or of one line of a list: counts from the start of its first attempt, over all operations
/// that follow it to mirrors, along redirects and for the rest of a body. Any thread.
final class AttemptClock: Sendable {
  private let limit: Duration
  /// Nanoseconds; 0 before the first attempt.
  private let begin = Atomic<Int64>(0)

  init(_ limit: Duration) { self.limit = limit }

  /// Bounds an operation that may start after a pause, and begins to count with its start unless an earlier one has started.
  func bound(_ operation: NetworkOperation, after pause: Duration = .zero) {
    // No time at all is no limit that the library takes.
    operation.timeouts.total = max(left - pause, .milliseconds(1))
    operation.onStateChange { [self] state in
      guard state == .executing || state == .revalidating else { return }
      _ = begin.compareExchange(expected: 0, desired: MonotonicTime.now, ordering: .relaxed)
    }
  }

  /// True if an operation may start after such a pause.
  func hasTime(after pause: Duration = .zero) -> Bool { left > pause }

  private var left: Duration {
    let begin = begin.load(ordering: .relaxed)
    return begin == 0 ? limit : limit - .nanoseconds(MonotonicTime.now - begin)
  }
}
