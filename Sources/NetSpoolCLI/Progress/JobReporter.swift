/// Tells the user what the job does: progress, the first failures, and why it stops.
final class JobReporter {
  private let console: Console
  let painter: ProgressPainter
  private let isQuiet: Bool
  private var failuresShown = 0
  private var brokenShown = 0

  /// How many failures and how many broken lines are shown one by one. The files have all of them.
  static let shownMax = 10

  init(console: Console, painter: ProgressPainter, isQuiet: Bool) {
    (self.console, self.painter, self.isQuiet) = (console, painter, isQuiet)
  }

  func failed(_ item: FetchItem, _ outcome: FetchOutcome) {
    show("failed: \(URLText.masked(item.url)): \(outcome.sentence(item))", &failuresShown, "failures")
  }

  func broken(_ line: BrokenLine) { show(line.description, &brokenShown, "broken lines") }

  /// Why the job stops, and for what it waits; shown even when quiet.
  func drains(_ cause: JobStatus, inFlight: Int) {
    let waiting = inFlight > 0 ? "; waiting for \(HumanText.count(inFlight)) under way" : ""
    let reason = cause == .tooManyErrors ? "too many errors: " : ""
    let advice = cause.isSignal && inFlight > 0 ? " (press Ctrl-C again to quit)" : ""
    console.message("\(reason)stopping\(waiting)\(advice)")
  }

  /// Found out when all was done.
  func hadTooManyErrors() { console.message("too many errors, as --max-errors has it") }

  /// Shown even when quiet: without it the exit status would be a riddle.
  func ioFailed(_ failure: any CustomStringConvertible) { console.message("netspool: \(failure)") }

  private func show(_ text: String, _ shown: inout Int, _ what: String) {
    shown += 1
    if isQuiet { return }
    if shown <= Self.shownMax { console.message(text) }
    if shown == Self.shownMax + 1 {
      console.message("further \(what) are counted, not shown; --failed x.txt writes all of them to a file")
    }
  }
}

/// `--progress`: how much the tool says while it works.
enum ProgressMode: String, CaseIterable, Sendable {
  /// A bar on a terminal, a line every ten seconds in a log.
  case auto
  case always
  case never
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
