/// One moment on both clocks: what a record says about time must outlive the process, so it is wall time, and
/// the wall clock is set by people, so every decision looks at the other one too.
package struct FrozenMoment: Hashable, Sendable {
  /// Microseconds since 1970.
  package var wall: Microseconds
  /// Microseconds of a clock that does not go back, worth nothing in another process.
  package var monotonic: Microseconds

  package init(wall: Microseconds, monotonic: Microseconds) {
    self.wall = wall
    self.monotonic = monotonic
  }
}

extension Microseconds {
  package static let second: Microseconds = 1_000_000
  package static let hour: Microseconds = 3_600 * second
  package static let day: Microseconds = 24 * hour
}
