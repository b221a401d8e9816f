import Glibc

/// What the process has used up to a moment: time that passed, and processor time of all its threads.
package struct Usage: Sendable {
  package var nanoseconds: UInt64
  package var userMicroseconds: Double
  package var systemMicroseconds: Double

  package static func now() -> Usage {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Usage(
      nanoseconds: Clock.monotonic(),
      userMicroseconds: microseconds(usage.ru_utime), systemMicroseconds: microseconds(usage.ru_stime))
  }

  package static func - (later: Usage, earlier: Usage) -> Usage {
    Usage(
      nanoseconds: later.nanoseconds - earlier.nanoseconds,
      userMicroseconds: later.userMicroseconds - earlier.userMicroseconds,
      systemMicroseconds: later.systemMicroseconds - earlier.systemMicroseconds)
  }

  private static func microseconds(_ time: timeval) -> Double {
    Double(time.tv_sec) * 1e6 + Double(time.tv_usec)
  }
}
