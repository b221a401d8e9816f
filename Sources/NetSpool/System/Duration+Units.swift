/// Spans of time as the numbers that timers and C libraries take.
extension Duration {
  /// The longest that any clock here is asked for: a billion seconds, which is 31 years.
  static let longest = Duration.seconds(1_000_000_000)

  private var clamped: Duration { min(max(.zero, self), .longest) }

  /// Whole microseconds: none for a span below zero, never more than in `longest`.
  var microseconds: Microseconds {
    let (seconds, attoseconds) = clamped.components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  /// Whole milliseconds, rounded up, so that a timer never comes early.
  var milliseconds: UInt64 { UInt64((microseconds + 999) / 1_000) }

  var seconds: Double { Double(microseconds) / 1e6 }
}
