/// When an origin is looked at again: after half a second to one, then twice as long each time, up to half a
/// minute. The half that is left to chance keeps clients that lost an origin together from coming back together.
struct ProbeBackoff: Sendable, Equatable {
  static let spanMin = 1.0
  static let spanMax = 30.0

  private var failed = 0

  init() {}

  /// Seconds until the next look.
  /// - Parameter random: evenly distributed in 0..<1.
  func delay(random: Double) -> Double {
    let span = min(Self.spanMax, Self.spanMin * Double(1 << min(failed, 16)))
    return span / 2 + random * span / 2
  }

  mutating func didFail() { failed = min(failed + 1, 16) }
  mutating func reset() { failed = 0 }
}
