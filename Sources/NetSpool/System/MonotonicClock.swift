internal import CNetSpoolShims
internal import Glibc

/// Microseconds that only grow, whatever happens to the wall clock (clock_gettime(2), CLOCK_MONOTONIC).
typealias Microseconds = Int64

enum MonotonicClock {
  static var now: Microseconds {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
