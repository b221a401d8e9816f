import Glibc

/// An amount of bytes as people write it: `500`, `10k`, `1.5MiB`, `2G`. Units are binary: `k` is 1,024.
struct ByteSize: Equatable {
  let bytes: Int64

  init(bytes: Int64) { self.bytes = bytes }

  /// Nil for anything that is not a positive amount of at least one byte.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text), let factor = Self.factor(unit) else { return nil }
    let bytes = amount * factor
    guard bytes >= 1, bytes < 0x1p62 else { return nil }
    self.bytes = Int64(bytes)
  }

  private static func factor(_ unit: String) -> Double? {
    let power = ["", "k", "m", "g", "t"].firstIndex { [$0, "\($0)b", "\($0)ib"].contains(unit) }
    return unit == "ib" ? nil : power.map { Double(1 << (10 * $0)) }
  }
}

/// Splits `1.5MiB` to 1.5 and `mib`. Nil when it does not begin with a plain, finite, unsigned number.
func splitAmount(_ text: String) -> (amount: Double, unit: String)? {
  let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
  guard let first = digits.first, first != ".", let amount = Double(digits), amount.isFinite else {
    return nil
  }
  return (amount, text.dropFirst(digits.count).lowercased())
}

/// A length of time as people write it: `30` and `30s` are seconds, also `500ms`, `5m`, `1.5h`, `2d`.
struct TimeSpan: Equatable, CustomStringConvertible {
  let nanoseconds: Int64

  var seconds: Double { Double(nanoseconds) / 1e9 }
  init(seconds: Double) { nanoseconds = Int64(seconds * 1e9) }

  /// Nil for anything but 1 ms to 30 days: what is outside is nearly always a slip of the pen.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text), let factor = Self.units[unit] else { return nil }
    let seconds = amount * factor
    guard seconds >= 0.001, seconds <= 30 * 86_400 else { return nil }
    self.init(seconds: seconds)
  }

  private static let units = ["ms": 0.001, "": 1, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400]

  /// As it is read: `5m`, in the largest unit that divides it.
  var description: String {
    let milliseconds = nanoseconds / 1_000_000
    let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
    let (length, name) = units.first { milliseconds >= $0.0 && milliseconds % $0.0 == 0 } ?? (1, "ms")
    return "\(milliseconds / length)\(name)"
  }
}

extension Duration {
  /// As the number that reports and options show.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}

/// The system's clocks, in nanoseconds.
enum SystemClock {
  static func now(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

enum MonotonicTime { static var now: Int64 { SystemClock.now(CLOCK_MONOTONIC) } }

enum WallTime {
  /// A moment since 1970 by RFC 3339: `2026-01-31T12:00:00.000Z`.
  static func text(at moment: Duration) -> String {
    let (seconds, attoseconds) = moment.components
    var (time, parts) = unsafe (time_t(seconds), tm())
    unsafe gmtime_r(&time, &parts)
    func padded(_ number: Int32, _ width: Int = 2) -> String {
      HumanText.padded(Int(number), to: width, with: "0")
    }
    let (year, month, day) = unsafe (parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
    let date = "\(padded(year, 4))-\(padded(month))-\(padded(day))"
    let clock = "\(padded(hour)):\(padded(minute)):\(padded(second))"
    return "\(date)T\(clock).\(padded(Int32(attoseconds / 1_000_000_000_000_000), 3))Z"
  }

  static var now: Duration { .nanoseconds(SystemClock.now(CLOCK_REALTIME)) }
}
