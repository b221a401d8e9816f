/// One moment on both clocks: what a record says about time must outlive the process, so it is wall time, and
/// the wall clock is set by people, so every decision looks at the other one too.
struct FrozenMoment: Hashable, Sendable {
  /// Microseconds since 1970.
  var wall: Microseconds
  /// Microseconds of a clock that does not go back, worth nothing in another process.
  var monotonic: Microseconds

  init(wall: Microseconds, monotonic: Microseconds) {
    self.wall = wall
    self.monotonic = monotonic
  }
}

extension Microseconds {
  static let second: Microseconds = 1_000_000
  static let hour: Microseconds = 3_600 * second
  static let day: Microseconds = 24 * hour
}
