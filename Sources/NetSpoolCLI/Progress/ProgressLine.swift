/// A line of text that never exceeds the columns there are: a bar in what the parts leave free.
///
///      45% [===>   ]  12,150/27,000  1,215/s   6.5 MiB  120 hits  3 errors  ETA  0:12
struct BarLine {
  /// A part of the line. Narrow terminals lose the parts with the highest `rank` first.
  struct Part {
    let rank: Int
    let text: String
    var isAlarm = false
  }

  let parts: [Part]
  /// 0...1; nil draws no bar.
  let fraction: Double?
  var isColoured = false
  var title = ""

  private static let barColumns = 6...40
  private static let gap = "  "

  /// For a terminal: fits `columns` less one, so that no terminal wraps it.
  func text(columns: Int) -> String {
    let room = max(1, columns - 1 - title.count)
    var shown = parts
    while shown.count > 1, length(shown) > room { shown.remove(at: leastImportant(shown)) }
    let text = shown.map(rendered).joined(separator: Self.gap)
    guard length(shown) <= room else { return String((title + text).prefix(max(1, columns - 1))) }
    return title + barText(room - length(shown)) + text
  }

  /// For a log: everything, nothing padded.
  var plain: String {
    parts.map { $0.text.split(separator: " ").joined(separator: " ") }.joined(separator: ", ")
  }

  private func length(_ parts: [Part]) -> Int {
    parts.reduce(0) { $0 + $1.text.count } + Self.gap.count * (parts.count - 1)
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
    guard let fraction, free - frame >= Self.barColumns.lowerBound else { return "" }
    let width = min(free - frame, Self.barColumns.upperBound)
    let filled = Int(Double(width) * min(1, fraction))
    let head = filled < width ? ">" : ""
    let bar = String(repeating: "=", count: filled) + head
    let rest = String(repeating: " ", count: width - bar.utf8.count)
    return "\(HumanText.padded(Int(min(1, fraction) * 100), to: 3, with: " "))% [\(bar)\(rest)]\(Self.gap)"
  }
}

struct ProgressLine {
  let meter: ProgressMeter
  var isColoured = false
  /// What the slowest of the bodies will take: the whole takes no less.
  var secondsLeftMin = 0.0

  func bar(columns: Int) -> String { line.text(columns: columns) }
  var plain: String { line.plain }
  private var line: BarLine { BarLine(parts: parts, fraction: meter.fraction, isColoured: isColoured) }

  private var parts: [BarLine.Part] {
    let counts = meter.counts
    var parts = [
      BarLine.Part(rank: 0, text: doneOfTotal),
      BarLine.Part(rank: 1, text: HumanText.padded("\(HumanText.rate(meter.perSecond))/s", to: 7)),
      BarLine.Part(rank: 4, text: HumanText.padded(HumanText.bytes(counts.bytes), to: 8)),
    ]
    // Worth a look where bodies are large; else the number of requests says more.
    if meter.bytesPerSecond >= 0x1p20 {
      let rate = HumanText.bytes(Int64(meter.bytesPerSecond))
      parts.append(BarLine.Part(rank: 6, text: HumanText.padded("\(rate)/s", to: 11)))
    }
    if counts.hits > 0 {
      parts.append(BarLine.Part(rank: 5, text: HumanText.plural(counts.hits, "hit", "hits")))
    }
    if counts.failed > 0 {
      parts.append(
        BarLine.Part(rank: 3, text: HumanText.plural(counts.failed, "error", "errors"), isAlarm: true))
    }
    if let seconds = meter.secondsLeft.map({ max($0, secondsLeftMin) }) {
      parts.append(BarLine.Part(rank: 2, text: "ETA \(HumanText.padded(HumanText.clock(seconds), to: 5))"))
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
}
