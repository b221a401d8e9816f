/// The lowest latency of the last one to two minutes: old enough to reach back before a queue formed, young
/// enough to notice that the route or the origin has changed.
struct QuickestAnswer: Sendable {
  private static var spanMicroseconds: Int64 { 60_000_000 }

  private var current = Double.infinity
  private var previous = Double.infinity
  private var spanEnd = Int64.min

  /// Seconds; infinite before the first answer.
  var latency: Double { min(current, previous) }

  /// True when a minute has passed and a new one begins with this answer.
  mutating func take(_ latency: Double, _ now: Int64) -> Bool {
    let isFirst = spanEnd == .min
    let isOver = now >= spanEnd
    if isOver {
      previous = current
      current = .infinity
      spanEnd = now + Self.spanMicroseconds
    }
    current = min(current, latency)
    return isOver && !isFirst
  }
}
