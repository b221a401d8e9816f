import Glibc

/// Standard error: messages, and progress lines below them that are redrawn in place.
final class Console {
  let isTerminal: Bool
  private let write: (String) -> Void
  private let measure: () -> Int
  /// The lengths of the progress lines that stand there, in characters.
  private var bars: [Int] = []

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

  /// Redraws the progress lines.
  func show(bars texts: [String]) {
    write(erasure + texts.joined(separator: "\n"))
    bars = texts.map(HumanText.width)
  }

  /// Leaves the last progress lines standing and begins a new one.
  func endBar() {
    if !bars.isEmpty { write("\n") }
    bars = []
  }

  /// Takes the progress lines away.
  func removeBars() { eraseBar() }

  private func eraseBar() {
    if !bars.isEmpty { write(erasure) }
    bars = []
  }

  /// Goes up to the first progress line and clears all that is below. A window that became narrower has broken lines to
  /// several rows.
  private var erasure: String {
    guard !bars.isEmpty else { return "\r" }
    let columns = max(1, self.columns)
    let rows = bars.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    return rows > 1 ? "\r\u{1B}[\(rows - 1)A\u{1B}[J" : "\r\u{1B}[J"
  }
}

/// The width of a terminal; nil when the descriptor is none or does not know.
private func terminalColumns(_ descriptor: Int32) -> Int? {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
  return Int(size.ws_col)
}
