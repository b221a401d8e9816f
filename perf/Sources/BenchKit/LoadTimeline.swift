/// The slowest request of each tenth of a second in which requests should have started.
package struct LoadTimeline: Sendable {
  private static let slice: UInt64 = 100_000_000

  private var worst: [UInt32]

  package init(_ options: Options) {
    worst = options.rate > 0 ? [UInt32](repeating: 0, count: options.requests * 10 / options.rate + 1) : []
  }

  /// A latency in nanoseconds, of one that should have started at `time`; `since` is where the timeline begins.
  package mutating func add(_ latency: UInt32, at time: UInt64, since: UInt64) {
    guard time >= since else { return }
    let index = Int((time - since) / Self.slice)
    if worst.indices.contains(index) { worst[index] = max(worst[index], latency) }
  }

  /// Seconds, and microseconds; none if there is no rate.
  package var points: [(Double, Double)] {
    worst.enumerated().map { (Double($0.offset) / 10, Double($0.element) / 1_000) }
  }
}
