/// What the demo says, on standard output, and how many of its checks passed.
final class DemoTalk {
  private(set) var checks = 0
  private(set) var failures = 0
  private let isQuiet: Bool
  private let isColoured: Bool

  init(isQuiet: Bool, isColoured: Bool) {
    self.isQuiet = isQuiet
    self.isColoured = isColoured
  }

  func heading(_ text: String) { if !isQuiet { print("\n" + inBold(text)) } }

  func note(_ text: String) { if !isQuiet { print("  \(text)") } }

  /// A failed check is shown even when quiet.
  func check(_ isTrue: Bool, _ text: String) {
    checks += 1
    if !isTrue { failures += 1 }
    if !isTrue || !isQuiet { print("  \(isTrue ? inColour("ok", 32) : inColour("FAILED", 31))  \(text)") }
  }

  func number(_ value: String, _ what: String) { print("  \(HumanText.padded(value, to: 12))  \(what)") }

  func print(_ line: String) {
    try? Descriptor(borrowing: 1, named: "standard output").write(Array("\(line)\n".utf8))
  }

  private func inBold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  private func inColour(_ text: String, _ colour: Int) -> String {
    isColoured ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
  }
}
