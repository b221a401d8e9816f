/// A point in time after which a test gives up waiting on a descriptor.
struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  /// A test that meets it has failed.
  static var generous: Deadline { Deadline(after: .patience) }

  init(after duration: Duration) { end = .now + duration }

  /// What is left, in milliseconds as `poll` wants them: rounded up, 0 when it has passed.
  var millisecondsLeft: Int32 {
    let left = ContinuousClock.now.duration(to: end).components
    guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
    let milliseconds = left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000 + 1
    return Int32(clamping: milliseconds)
  }
}
