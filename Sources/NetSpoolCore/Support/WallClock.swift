import Glibc

/// Seconds since 1970: only for what the origin says in dates, never for waiting.
package enum WallClock {
  package static var seconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
