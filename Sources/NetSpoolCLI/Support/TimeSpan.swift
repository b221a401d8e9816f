/// A length of time as people write it: `30` and `30s` are seconds, also `500ms`, `5m`, `1.5h`, `2d`.
struct TimeSpan: Equatable {
  let nanoseconds: Int64

  var seconds: Double { Double(nanoseconds) / 1e9 }

  init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  init(seconds: Double) { nanoseconds = Int64(seconds * 1e9) }

  /// Nil for anything but 1 ms to 30 days: what is outside is nearly always a slip of the pen.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text), let factor = Self.seconds(unit) else { return nil }
    let seconds = amount * factor
    guard seconds >= 0.001, seconds <= 30 * 86_400 else { return nil }
    self.init(seconds: seconds)
  }

  private static func seconds(_ unit: String) -> Double? {
    switch unit {
    case "ms": 0.001
    case "", "s": 1
    case "m", "min": 60
    case "h": 3_600
    case "d": 86_400
    default: nil
    }
  }
}

extension TimeSpan: CustomStringConvertible {
  /// As it is read: `5m`, in the largest unit that divides it.
  var description: String {
    let milliseconds = nanoseconds / 1_000_000
    let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
    let (length, name) = units.first { milliseconds >= $0.0 && milliseconds % $0.0 == 0 } ?? (1, "ms")
    return "\(milliseconds / length)\(name)"
  }
}
