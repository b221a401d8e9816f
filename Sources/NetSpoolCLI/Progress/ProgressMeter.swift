/// What the progress bar knows. Pure state: counts and the time go in, rates and the time left come out.
struct ProgressMeter: Equatable, Sendable {
  /// The job's counters at one moment.
  struct Counts: Equatable, Sendable {
    var finished = 0
    var failed = 0
    var hits = 0
    var bytes: Int64 = 0
    /// Under way or waiting inside the network part.
    var inFlight = 0
    /// Given up because the job was stopped.
    var cancelled = 0
    /// How much of the list has been read, 0...1; nil when its length is unknown.
    var listFraction: Double?
    /// The lines of the list that ask for something, once they are counted.
    var linesTotal: Int?
    /// The lines read so far.
    var linesRead = 0
    var listEnded = false
  }

  enum Total: Equatable, Sendable {
    case exact(Int)
    /// From the part of the list that was read so far.
    case about(Int)
    case unknown
  }

  private struct Sample: Equatable, Sendable {
    let time: Int64
    let finished: Int
    let bytes: Int64
  }

  private(set) var counts = Counts()
  private var samples: [Sample] = []

  /// Rates are the mean of the last ten seconds: steady enough to read, quick enough to trust.
  static let windowNanoseconds: Int64 = 10_000_000_000
  static let sampleNanoseconds: Int64 = 1_000_000_000

  mutating func update(_ counts: Counts, now: Int64) {
    self.counts = counts
    let newest = Sample(time: now, finished: counts.finished, bytes: counts.bytes)
    // The last sample moves with the present until it is a second away from the one before it.
    if samples.count >= 2, now - samples[samples.count - 2].time < Self.sampleNanoseconds {
      samples[samples.count - 1] = newest
    } else {
      samples.append(newest)
    }
    while samples.count > 2, samples[1].time <= now - Self.windowNanoseconds { samples.removeFirst() }
  }

  /// Fetches finished per second; 0 before there are two moments to compare.
  var perSecond: Double {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Double(last.finished - first.finished) * 1e9 / Double(last.time - first.time)
  }

  /// Bytes of bodies per second; 0 before there are two moments to compare.
  var bytesPerSecond: Double {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Double(last.bytes - first.bytes) * 1e9 / Double(last.time - first.time)
  }

  var total: Total {
    let known = counts.finished + counts.inFlight + counts.cancelled
    if counts.listEnded { return .exact(known) }
    if let lines = counts.linesTotal { return .exact(max(known, known + lines - counts.linesRead)) }
    guard let fraction = counts.listFraction, fraction > 0.001, known > 0 else { return .unknown }
    return .about(Int(Double(known) / fraction))
  }

  /// The finished part of the total, 0...1.
  var fraction: Double? {
    switch total {
    case .unknown: nil
    case .exact(let total), .about(let total): total == 0 ? 1 : Double(counts.finished) / Double(total)
    }
  }

  /// Seconds until the end at the present rate.
  var secondsLeft: Double? {
    guard perSecond > 0, let fraction, fraction > 0 else { return nil }
    return Double(counts.finished) * (1 / fraction - 1) / perSecond
  }
}
