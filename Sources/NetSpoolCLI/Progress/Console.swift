import Glibc

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
