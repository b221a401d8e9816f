import Glibc

/// Clock readings in nanoseconds.
package enum Clock {
  /// Time that passes for everyone.
  package static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

  /// Processor time of the calling thread only.
  package static func thread() -> UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// Blocks until `monotonic()` is at least so much.
  package static func sleep(until nanoseconds: UInt64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  private static func read(_ id: clockid_t) -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(id, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
