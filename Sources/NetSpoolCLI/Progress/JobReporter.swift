import Glibc

/// Tells the user what the job does: progress, the first failures, and why it stops.
final class JobReporter {
  private let console: Console
  private let painter: ProgressPainter
  private let isQuiet: Bool
  private var failuresShown = 0
  private var brokenShown = 0

  /// How many failures and how many broken lines are shown one by one. The files have all of them.
  static let shownMax = 10

  init(console: Console, painter: ProgressPainter, isQuiet: Bool) {
    self.console = console
    self.painter = painter
    self.isQuiet = isQuiet
  }

  var nextTick: Int64? { painter.nextTick }

  func tick(now: Int64, _ counts: () -> ProgressMeter.Counts) { painter.tick(now: now, counts) }

  func finish(now: Int64, _ counts: ProgressMeter.Counts) { painter.finish(now: now, counts) }

  func failed(_ item: FetchItem, _ outcome: FetchOutcome) {
    show("failed: \(URLText.masked(item.url)): \(outcome.errorKind)", &failuresShown, "failures")
  }

  func broken(_ line: BrokenLine) {
    show(line.description, &brokenShown, "broken lines")
  }

  func drains(_ cause: JobStatus, inFlight: Int) {
    let waiting = inFlight > 0 ? "; waiting for \(HumanText.count(inFlight)) under way" : ""
    switch cause {
    case .signal: note("stopping\(waiting)\(inFlight > 0 ? " (press Ctrl-C again to quit)" : "")")
    case .tooManyErrors: note("too many errors: stopping\(waiting)")
    default: note("stopping\(waiting)")
    }
  }

  /// Shown even when quiet: without it the exit status would be a riddle.
  func ioFailed(_ failure: IOFailure) { console.message("netspool: \(failure)") }

  private func show(_ text: String, _ shown: inout Int, _ what: String) {
    shown += 1
    if shown <= Self.shownMax { note(text) }
    if shown == Self.shownMax + 1 { note("further \(what) are counted, not shown") }
  }

  private func note(_ text: String) {
    if !isQuiet { console.message(text) }
  }
}

/// `--progress`: how much the tool says while it works.
enum ProgressMode: String, CaseIterable, Sendable {
  /// A bar on a terminal, a line every ten seconds in a log.
  case auto
  /// A bar, terminal or not.
  case always
  case never
  /// A line every ten seconds.
  case lines

  enum Style: Equatable, Sendable { case bar, lines, silent }

  /// - Parameter isTerminal: whether standard error can redraw a line; a `TERM=dumb` one cannot.
  func style(isTerminal: Bool, isQuiet: Bool) -> Style {
    if isQuiet { return .silent }
    switch self {
    case .auto: return isTerminal ? .bar : .lines
    case .always: return .bar
    case .never: return .silent
    case .lines: return .lines
    }
  }
}

/// Decides when to draw: a bar at most ten times a second, a line every ten seconds, or nothing.
final class ProgressPainter {
  private let style: ProgressMode.Style
  private let console: Console
  private let isColoured: Bool
  private var meter = ProgressMeter()
  /// When to draw next; nil when nothing is ever drawn.
  private(set) var nextTick: Int64?

  static let barInterval: Int64 = 100_000_000
  static let lineInterval: Int64 = 10_000_000_000

  /// - Parameter now: the job's start. The first bar comes a tenth of a second later, the first line after
  ///   ten seconds, so a short job draws little.
  init(style: ProgressMode.Style, console: Console, isColoured: Bool = false, now: Int64) {
    self.style = style
    self.console = console
    self.isColoured = isColoured
    meter.update(ProgressMeter.Counts(), now: now)
    nextTick = interval.map { now + $0 }
  }

  private var interval: Int64? {
    switch style {
    case .bar: Self.barInterval
    case .lines: Self.lineInterval
    case .silent: nil
    }
  }

  /// Draws if it is time. `counts` is asked only then.
  func tick(now: Int64, _ counts: () -> ProgressMeter.Counts) {
    guard let due = nextTick, now >= due else { return }
    meter.update(counts(), now: now)
    draw()
    nextTick = interval.map { now + $0 }
  }

  /// Draws the bar's last state and leaves it standing.
  func finish(now: Int64, _ counts: ProgressMeter.Counts) {
    guard style == .bar else { return }
    meter.update(counts, now: now)
    draw()
    console.endBar()
  }

  private func draw() {
    let line = ProgressLine(meter: meter, isColoured: isColoured)
    switch style {
    case .bar: console.show(bar: line.bar(columns: console.columns))
    case .lines: console.message("netspool: \(line.plain)")
    case .silent: break
    }
  }
}

/// Standard error: messages, and one progress line below them that is redrawn in place.
final class Console {
  let isTerminal: Bool
  private let write: (String) -> Void
  private let measure: () -> Int
  private var hasBar = false

  /// - Parameters:
  ///   - columns: the terminal's width, asked at every redraw because windows change.
  ///   - write: gets every piece of text.
  init(isTerminal: Bool, columns: @escaping () -> Int = { 80 }, write: @escaping (String) -> Void) {
    self.isTerminal = isTerminal
    measure = columns
    self.write = write
  }

  /// The process's standard error. Its failures are ignored: there is nobody left to tell.
  static func standardError(_ environment: Environment = .process) -> Console {
    Console(
      isTerminal: isatty(2) == 1 && environment["TERM"] != "dumb",
      columns: { terminalColumns(2) ?? 80 },
      write: { try? Descriptor(borrowing: 2, named: "standard error").write(Array($0.utf8)) })
  }

  var columns: Int { measure() }

  /// Prints one line above the progress line.
  func message(_ text: String) {
    let text = HumanText.harmless(text)
    eraseBar()
    write(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Redraws the progress line.
  func show(bar: String) {
    write("\r\(bar)\u{1B}[K")
    hasBar = true
  }

  /// Leaves the last progress line standing and begins a new one.
  func endBar() {
    if hasBar { write("\n") }
    hasBar = false
  }

  private func eraseBar() {
    if hasBar { write("\r\u{1B}[K") }
    hasBar = false
  }
}

/// The width of a terminal; nil when the descriptor is none or does not know.
private func terminalColumns(_ descriptor: Int32) -> Int? {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
  return Int(size.ws_col)
}
