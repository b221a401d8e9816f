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

/// A moment on both clocks: what a record says about time must outlive the boot, so it is wall time, and the wall
/// clock is set by people, so within a boot the other one alone counts.
struct ClockMoment: Hashable, Sendable {
  /// Microseconds since 1970.
  var wall: Microseconds
  /// Microseconds since the machine was started, sleep included; worth nothing in another boot.
  var monotonic: Microseconds
  /// Which boot that was; 0 when it is not known.
  var boot: UInt64 = 0

  static var now: ClockMoment {
    ClockMoment(wall: WallClock.microseconds, monotonic: BootClock.now, boot: BootIdentifier.current.first)
  }

  /// Unknown is never the same as anything.
  func isSameBoot(as other: ClockMoment) -> Bool { boot != 0 && boot == other.boot }
}

/// The run of the kernel: what was written without waiting for the disk is whole in the page cache
/// as long as the machine has not gone down since.
struct BootIdentifier: Equatable, Sendable {
  var first: UInt64
  var second: UInt64

  /// All zero when the system does not say.
  static let unknown = BootIdentifier(first: 0, second: 0)

  static let current: BootIdentifier = {
    guard let text = SystemText.read("/proc/sys/kernel/random/boot_id") else { return .unknown }
    let digits = text.filter { $0.isHexDigit }
    guard digits.count == 32, let first = UInt64(digits.prefix(16), radix: 16),
      let second = UInt64(digits.suffix(16), radix: 16)
    else { return .unknown }
    return BootIdentifier(first: first, second: second)
  }()

  /// Unknown is never the same as anything.
  func isSame(as other: BootIdentifier) -> Bool { self != .unknown && self == other }
}

extension Microseconds {
  static let second: Microseconds = 1_000_000
  static let hour: Microseconds = 3_600 * second
  static let day: Microseconds = 24 * hour
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
