/// Decides when to draw: a bar at most ten times a second, a line every ten seconds, or nothing.
final class ProgressPainter {
  private let style: ProgressMode.Style
  private let console: Console
  private let isColoured: Bool
  private var meter = ProgressMeter()
  /// What is on its way, in lines of its own under the total.
  private let board: TransferBoard?
  private var bodies: [Int: ByteMeter] = [:]
  /// When to draw next; nil when nothing is ever drawn.
  private(set) var nextTick: Int64?

  static let barInterval: Int64 = 100_000_000
  static let lineInterval: Int64 = 10_000_000_000
  static let bodiesMax = 5

  /// - Parameter now: the job's start. The first bar comes a tenth of a second later, the first line after
  ///   ten seconds, so a short job draws little.
  init(
    style: ProgressMode.Style, console: Console, isColoured: Bool = false, board: TransferBoard? = nil,
    now: Int64
  ) {
    (self.style, self.console, self.isColoured, self.board) = (style, console, isColoured, board)
    meter.update(ProgressMeter.Counts(), now: now)
    nextTick = interval.map { now + $0 }
  }

  private var interval: Int64? {
    let intervals: [ProgressMode.Style: Int64] = [.bar: Self.barInterval, .lines: Self.lineInterval]
    return intervals[style]
  }

  /// Draws if it is time. `counts` is asked only then.
  func tick(now: Int64, _ counts: () -> ProgressMeter.Counts) {
    guard let due = nextTick, now >= due else { return }
    var counts = counts()
    counts.bytes += board?.bytes ?? 0
    meter.update(counts, now: now)
    draw(bodyLines(now))
    nextTick = interval.map { now + $0 }
  }

  /// Draws the bar's last state and leaves it standing.
  func finish(now: Int64, _ counts: ProgressMeter.Counts) {
    guard style == .bar else { return }
    meter.update(counts, now: now)
    draw([])
    console.endBar()
  }

  private func bodyLines(_ now: Int64) -> [ByteLine] {
    guard style == .bar, let board else { return [] }
    let largest = board.largest(Self.bodiesMax)
    var meters: [Int: ByteMeter] = [:]
    let lines = largest.map { id, entry in
      var meter = bodies[id] ?? ByteMeter()
      meter.update(bytes: entry.bytes, total: entry.total, now: now)
      meters[id] = meter
      return ByteLine(meter: meter, name: entry.name)
    }
    bodies = meters
    return lines
  }

  private func draw(_ bodies: [ByteLine]) {
    let line = ProgressLine(
      meter: meter, isColoured: isColoured, secondsLeftMin: bodies.compactMap(\.meter.secondsLeft).max() ?? 0)
    switch style {
    case .bar:
      let columns = console.columns
      console.show(bars: [line.bar(columns: columns)] + bodies.map { $0.bar(columns: columns) })
    case .lines: console.message("netspool: \(line.plain)")
    case .silent: break
    }
  }
}
