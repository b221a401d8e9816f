import Glibc

/// The times at which requests should start.
package struct Pace: Sendable {
  private let begin = Clock.monotonic()
  private let rate: Int

  package init(rate: Int) { self.rate = rate }

  /// When request number `index`, from 0, should start, in nanoseconds of the monotonic clock.
  package func time(_ index: Int) -> UInt64 { begin + UInt64(index) * 1_000_000_000 / UInt64(rate) }

  /// Blocks, and starts each in time, or at once where it is late.
  ///
  /// From the main thread: it is the one whose sleeps end when they should.
  package func run(_ count: Int, _ start: (Int) -> Void) {
    Self.sharpenSleeps()
    for index in 0..<count {
      Clock.sleep(until: time(index))
      start(index)
    }
  }

  /// Sleeps of the main thread end within a microsecond. Else the kernel adds 50, which would count as latency.
  private static func sharpenSleeps() {
    let descriptor = unsafe open("/proc/self/timerslack_ns", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = unsafe write(descriptor, "1", 1)
    close(descriptor)
  }
}
