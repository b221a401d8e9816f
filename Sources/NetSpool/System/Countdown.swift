internal import Synchronization

/// Calls back when it has been signalled so many times.
final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let onZero: @Sendable () -> Void

  init(_ count: Int, _ onZero: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.onZero = onZero
  }

  func signal() {
    if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { onZero() }
  }
}
