/// Heads as they are on the wire, line by line, with secrets masked. Pure.
struct WireText {
  /// Of a line whose end is still to come.
  private var pending: [UInt8] = []

  /// The lines that have ended with these bytes, without their ends; an empty one ends a head.
  mutating func lines(of bytes: [UInt8]) -> [String] {
    pending += bytes
    guard let end = pending.lastIndex(of: 0x0A) else { return [] }
    let whole = pending[...end].split(separator: 0x0A, omittingEmptySubsequences: false).dropLast()
    pending.removeSubrange(...end)
    return whole.map { line in
      let line = line.last == 0x0D ? line.dropLast() : line
      let latin1 = String(String.UnicodeScalarView(line.map(Unicode.Scalar.init)))
      return Self.masked(String(validating: line, as: UTF8.self) ?? latin1)
    }
  }

  private static func masked(_ line: String) -> String {
    if line.hasPrefix("HTTP/") { return plain(line) }
    guard let colon = line.firstIndex(of: ":"), !line[..<colon].contains(" ") else {
      return requestLine(line)
    }
    let (name, value) = (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
    let masked = HAREntry.masked(name, value)
    return plain(masked == value ? line : "\(name): \(masked)")
  }

  /// `GET /path?token=... HTTP/1.1`.
  private static func requestLine(_ line: String) -> String {
    let host = "http://h"
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map { word in
      if word.hasPrefix("/") { return String(URLText.masked(host + word).dropFirst(host.count)) }
      return word.contains("://") ? URLText.masked(String(word)) : String(word)
    }
    return plain(words.joined(separator: " "))
  }

  /// Without what could steer a terminal.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { HumanText.isHarmful($0) ? "?" : $0 }))
  }
}
