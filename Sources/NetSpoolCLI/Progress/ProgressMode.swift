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
