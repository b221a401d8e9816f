/// How fast a number has grown over the last ten seconds: steady enough to read, quick enough to trust. Pure.
struct RateWindow: Sendable {
  private var samples: [(time: Int64, amount: Int64)] = []

  private static let windowNanoseconds: Int64 = 10_000_000_000
  private static let sampleNanoseconds: Int64 = 1_000_000_000

  mutating func note(_ amount: Int64, now: Int64) {
    // The last sample moves with the present until it is a second away from the one before it.
    if samples.count >= 2, now - samples[samples.count - 2].time < Self.sampleNanoseconds {
      samples.removeLast()
    }
    samples.append((now, amount))
    while samples.count > 2, samples[1].time <= now - Self.windowNanoseconds { samples.removeFirst() }
  }

  /// 0 before there are two moments to compare.
  var perSecond: Double {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Double(last.amount - first.amount) * 1e9 / Double(last.time - first.time)
  }
}
