/// What the progress bar knows. Pure state: counts and the time go in, rates and the time left come out.
struct ProgressMeter: Sendable {
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
    var linesRead = 0
    var listEnded = false
  }

  enum Total: Equatable, Sendable {
    case exact(Int)
    /// From the part of the list that was read so far.
    case about(Int)
    case unknown
  }

  private(set) var counts = Counts()
  private var fetches = RateWindow()
  private var bytes = RateWindow()

  mutating func update(_ counts: Counts, now: Int64) {
    self.counts = counts
    fetches.note(Int64(counts.finished), now: now)
    bytes.note(counts.bytes, now: now)
  }

  var perSecond: Double { fetches.perSecond }
  var bytesPerSecond: Double { bytes.perSecond }

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
