import Glibc

/// What the process has used so far.
enum ProcessUsage {
  /// User and system time of all threads, in seconds.
  static var seconds: Double {
    let usage = current
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// The largest resident size, in bytes.
  static var residentBytesPeak: Int64 { Int64(current.ru_maxrss) * 1_024 }

  private static var current: rusage {
    var usage = rusage()
    unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
