/// The quickest that an origin has been in the last one to two minutes: old enough to reach back before a queue
/// formed, young enough to notice that the route or the origin has changed.
struct SizingBaseline: Sendable {
  private static var spanMicroseconds: Int64 { 60_000_000 }

  /// The least of one span.
  private struct Span: Sendable {
    var latency = Double.infinity
    /// Seconds per byte, by size.
    var pace = InlineArray<5, Double>(repeating: .infinity)
  }

  private var current = Span()
  private var previous = Span()
  private var spanEnd = Int64.min

  /// Seconds; infinite before the first answer.
  var latency: Double { min(current.latency, previous.latency) }

  /// True when a minute has passed and a new one begins with this answer.
  mutating func take(latency: Double, _ now: Int64) -> Bool {
    let isFirst = spanEnd == .min
    let isOver = now >= spanEnd
    if isOver {
      previous = current
      current = Span()
      spanEnd = now + Self.spanMicroseconds
    }
    current.latency = min(current.latency, latency)
    return isOver && !isFirst
  }

  /// How many times longer this body took than the quickest of about its size, per byte; nil when it is too
  /// short to tell. Sizes are told apart in steps of four, as short bodies never reach the speed of long ones.
  mutating func stretch(of body: OriginSizing.Transport) -> Double? {
    guard body.bytes >= 65_536, body.seconds > 0 else { return nil }
    let size = min(4, (Int64.bitWidth - 1 - body.bytes.leadingZeroBitCount - 16) / 2)
    let pace = body.seconds / Double(body.bytes)
    current.pace[size] = min(current.pace[size], pace)
    return pace / min(current.pace[size], previous.pace[size])
  }
}
