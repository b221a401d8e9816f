import Glibc

/// Standard error: messages, and progress lines below them that are redrawn in place.
///
/// The cursor waits at the beginning of the first progress line. A window that becomes narrower breaks the lines to more
/// rows, or does not, as its terminal likes; the cursor stays with its line, and all that is below it is ours.
final class Console {
  let isTerminal: Bool
  private let write: (String) -> Void
  private let measure: () -> TerminalSize
  private var bars: [String] = []

  /// - Parameter size: the terminal's, asked at every redraw because windows change.
  init(
    isTerminal: Bool, size: @escaping () -> TerminalSize = { TerminalSize() },
    write: @escaping (String) -> Void
  ) { (self.isTerminal, measure, self.write) = (isTerminal, size, write) }

  /// The process's standard error. Its failures are ignored: there is no place left to tell them.
  static func standardError(_ environment: Environment = .process) -> Console {
    Console(
      isTerminal: isatty(2) == 1 && environment["TERM"] != "dumb",
      size: { TerminalSize(of: 2) ?? TerminalSize() },
      write: { try? Descriptor(borrowing: 2, named: "standard error").write(Array($0.utf8)) })
  }

  var columns: Int { measure().columns }

  func message(_ text: String) {
    let text = HumanText.harmless(text)
    removeBars()
    write(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Redraws the progress lines: as many as the window has room for.
  func show(bars texts: [String]) {
    let shown = Array(texts.prefix(max(1, measure().rows - 1)))
    let back = shown.count > 1 ? "\r\u{1B}[\(shown.count - 1)A" : "\r"
    write(erasure + Self.noWrap + shown.joined(separator: "\n") + Self.wrap + back)
    bars = shown
  }

  /// Leaves the last progress lines standing and begins a new one.
  func endBar() {
    if !bars.isEmpty { write(erasure + bars.joined(separator: "\n") + "\n") }
    bars = []
  }

  func removeBars() {
    if !bars.isEmpty { write(erasure) }
    bars = []
  }

  /// Clears the progress lines. Not from the window's first column: tmux keeps a whole window that is cleared for users
  /// who scroll back, ten times a second.
  private var erasure: String { bars.isEmpty ? "\r" : "\r \u{1B}[J\r" }

  /// A name whose letters take two columns, or a window that is smaller by now, makes no line two rows long.
  private static let noWrap = "\u{1B}[?7l"
  private static let wrap = "\u{1B}[?7h"
}

struct TerminalSize: Equatable {
  var columns = 80
  var rows = 24

  init(columns: Int = 80, rows: Int = 24) { (self.columns, self.rows) = (columns, rows) }

  /// Nil when the descriptor is no terminal or does not know.
  init?(of descriptor: Int32) {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    columns = Int(size.ws_col)
    rows = size.ws_row > 0 ? Int(size.ws_row) : 24
  }
}
