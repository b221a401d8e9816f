internal import Synchronization

/// A flag that one caller of many finds unset. Any thread.
final class Once: Sendable {
  private let isPassed = Atomic(false)

  /// True for the first caller alone.
  func first() -> Bool { !isPassed.exchange(true, ordering: .acquiringAndReleasing) }
}
