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
    /// How much of the list has been read, 0...1; nil when its length is unknown.
    var listFraction: Double?
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
  }

  private(set) var counts = Counts()
  private var samples: [Sample] = []

  /// Rates are the mean of the last ten seconds: steady enough to read, quick enough to trust.
  static let windowNanoseconds: Int64 = 10_000_000_000
  static let sampleNanoseconds: Int64 = 1_000_000_000

  mutating func update(_ counts: Counts, now: Int64) {
    self.counts = counts
    let newest = Sample(time: now, finished: counts.finished)
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

  var total: Total {
    let known = counts.finished + counts.inFlight
    if counts.listEnded { return .exact(known) }
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

/// Draws a `ProgressMeter` as one line of text that never exceeds the columns there are.
///
///      45% [===>   ]  12,150/27,000  1,215/s   6.5 MiB  120 hits  3 errors  ETA  0:12
struct ProgressLine {
  let meter: ProgressMeter
  var isColoured = false

  /// One part of the line. Narrow terminals lose the parts with the highest `rank` first.
  private struct Part {
    let rank: Int
    let text: String
    var isAlarm = false
  }

  private static let barColumns = 6...40
  private static let gap = "  "

  /// For a terminal: fits `columns` less one, so that no terminal wraps it.
  func bar(columns: Int) -> String {
    let room = max(1, columns - 1)
    var shown = parts
    while shown.count > 1, length(shown) > room { shown.remove(at: leastImportant(shown)) }
    let text = shown.map(rendered).joined(separator: Self.gap)
    guard length(shown) <= room else { return String(text.prefix(room)) }
    return barText(room - length(shown)) + text
  }

  /// For a log: everything, nothing padded.
  var plain: String {
    parts.map { $0.text.trimmingBlanks }.joined(separator: ", ")
  }

  private var parts: [Part] {
    let counts = meter.counts
    var parts = [
      Part(rank: 0, text: doneOfTotal),
      Part(rank: 1, text: HumanText.padded("\(HumanText.rate(meter.perSecond))/s", to: 7)),
      Part(rank: 4, text: HumanText.padded(HumanText.bytes(counts.bytes), to: 8)),
    ]
    if counts.hits > 0 { parts.append(Part(rank: 5, text: "\(HumanText.count(counts.hits)) hits")) }
    if counts.failed > 0 {
      let word = counts.failed == 1 ? "error" : "errors"
      parts.append(Part(rank: 3, text: "\(HumanText.count(counts.failed)) \(word)", isAlarm: true))
    }
    if let seconds = meter.secondsLeft {
      parts.append(Part(rank: 2, text: "ETA \(HumanText.padded(HumanText.clock(seconds), to: 5))"))
    }
    return parts
  }

  /// `12,345/27,000`, `12,345/~27,000`, or the first number alone while the list's length is unknown.
  private var doneOfTotal: String {
    let done = HumanText.count(meter.counts.finished)
    let total: String
    switch meter.total {
    case .exact(let count): total = HumanText.count(count)
    case .about(let count): total = "~" + HumanText.count(count)
    case .unknown: return "\(done) done"
    }
    return "\(HumanText.padded(done, to: total.utf8.count))/\(total)"
  }

  private func length(_ parts: [Part]) -> Int {
    parts.reduce(0) { $0 + $1.text.utf8.count } + Self.gap.utf8.count * (parts.count - 1)
  }

  private func leastImportant(_ parts: [Part]) -> Int {
    parts.indices.max { parts[$0].rank < parts[$1].rank } ?? 0
  }

  private func rendered(_ part: Part) -> String {
    part.isAlarm && isColoured ? "\u{1B}[31m\(part.text)\u{1B}[0m" : part.text
  }

  /// ` 45% [====>     ]  ` in the columns that the text leaves free; empty when those are too few.
  private func barText(_ free: Int) -> String {
    let frame = "100% []".utf8.count + Self.gap.utf8.count
    guard let fraction = meter.fraction, free - frame >= Self.barColumns.lowerBound else { return "" }
    let width = min(free - frame, Self.barColumns.upperBound)
    let filled = Int(Double(width) * min(1, fraction))
    let head = filled < width ? ">" : ""
    let bar = String(repeating: "=", count: filled) + head
    let rest = String(repeating: " ", count: width - bar.utf8.count)
    return "\(HumanText.padded(Int(min(1, fraction) * 100), to: 3, with: " "))% [\(bar)\(rest)]\(Self.gap)"
  }
}

extension String {
  /// `ETA    0:18` and `   812/s` without the padding.
  fileprivate var trimmingBlanks: String {
    split(separator: " ").joined(separator: " ")
  }
}
