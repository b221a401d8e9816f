/// The times at which requests should start.
package struct Pace: Sendable {
  private let begin = Clock.monotonic()
  private let rate: Int

  package init(rate: Int) { self.rate = rate }

  /// When request number `index`, from 0, should start, in nanoseconds of the monotonic clock.
  package func time(_ index: Int) -> UInt64 { begin + UInt64(index) * 1_000_000_000 / UInt64(rate) }

  /// Blocks, and starts each in time, or at once where it is late.
  package func run(_ count: Int, _ start: (Int) -> Void) {
    for index in 0..<count {
      Clock.sleep(until: time(index))
      start(index)
    }
  }
}
