import Glibc

/// Seconds since 1970: only for what the origin says in dates, never for waiting.
package enum WallClock {
  package static var seconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }
}
