internal import CNetSpoolShims
internal import Glibc

/// The time since 1970: only for what the origin says in dates, never for waiting.
enum WallClock {
  static var seconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }

  static var milliseconds: Int64 { microseconds / 1000 }

  static var microseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
