internal import CNetSpoolShims
internal import Glibc

/// Microseconds that only grow, whatever happens to the wall clock (clock_gettime(2), CLOCK_MONOTONIC).
typealias Microseconds = Int64

enum MonotonicClock {
  static var now: Microseconds { cnetspool_monotonic_now() }
}

/// Microseconds since the machine was started, the time that it slept included: the same for all processes of one boot
/// (clock_gettime(2), CLOCK_BOOTTIME).
enum BootClock {
  static var now: Microseconds { readClock(CLOCK_BOOTTIME) }
}

/// The time since 1970: only for what the origin says in dates, never for waiting.
enum WallClock {
  static var seconds: Int64 { microseconds / 1_000_000 }
  static var milliseconds: Int64 { microseconds / 1000 }
  static var microseconds: Int64 { readClock(CLOCK_REALTIME) }
}

private func readClock(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// Spans of time as the numbers that timers and C libraries take.
extension Duration {
  /// The longest that any clock here is asked for: a billion seconds, which is 31 years.
  static let longest = Duration.seconds(1_000_000_000)

  private var clamped: Duration { min(max(.zero, self), .longest) }

  /// Whole microseconds: none for a span below zero, never more than in `longest`.
  var microseconds: Microseconds {
    let attoseconds = clamped.attoseconds
    // One division of the processor: `components` takes a hundred times as long.
    let high = UInt64(truncatingIfNeeded: attoseconds >> 64)
    let low = UInt64(truncatingIfNeeded: attoseconds)
    return Microseconds((1_000_000_000_000 as UInt64).dividingFullWidth((high, low)).quotient)
  }

  /// Whole milliseconds, rounded up, so that a timer never comes early.
  var milliseconds: UInt64 { UInt64((microseconds + 999) / 1_000) }

  var seconds: Double { Double(microseconds) / 1e6 }
}
