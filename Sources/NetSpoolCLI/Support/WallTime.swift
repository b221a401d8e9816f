import Glibc

/// The system's clock.
enum WallTime {
  /// Seconds since 1970.
  static var now: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
