extension Redaction {
  /// JSON text with the values of secret members masked, whatever their type. Works on broken JSON too:
  /// it only looks for strings that are followed by a colon.
  func json(_ text: String) -> String {
    var scanner = JSONMasker(Array(text.utf8))
    return String(decoding: scanner.masked(), as: UTF8.self)
  }

  /// A text body by its media type. Without a known one, what begins like JSON is taken for it.
  func body(_ text: String, contentType: String?) -> String {
    let type = (contentType ?? "").lowercased()
    let start = text.utf8.first { $0 > 0x20 }
    if type.contains("json") || start == UInt8(ascii: "{") || start == UInt8(ascii: "[") { return json(text) }
    return type.contains("x-www-form-urlencoded") ? form(text) : text
  }
}

/// A single pass over JSON text, without recursion: nesting cannot exhaust the stack.
private struct JSONMasker {
  private let text: [UInt8]
  private var position = 0
  private var output: [UInt8] = []

  init(_ text: [UInt8]) {
    self.text = text
    output.reserveCapacity(text.count)
  }

  mutating func masked() -> [UInt8] {
    while position < text.count {
      guard text[position] == UInt8(ascii: "\"") else {
        copy(to: position + 1)
        continue
      }
      let name = text[(position + 1)..<endOfString(position)]
      copy(to: min(name.endIndex + 1, text.count))
      if let value = valueStart(), isSecret(name) { mask(from: value) }
    }
    return output
  }

  /// An escape in a member's name has no honest use: such a name counts as secret.
  private func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
    name.contains(UInt8(ascii: "\\")) || Redaction.isSecret(key: name)
  }

  private mutating func mask(from value: Int) {
    copy(to: value)
    output += "\"\(Redaction.mask)\"".utf8
    position = endOfValue(value)
  }

  private mutating func copy(to end: Int) {
    output += text[position..<end]
    position = end
  }

  /// The position at which the value begins, if a colon follows.
  private func valueStart() -> Int? {
    let colon = skipSpace(position)
    guard colon < text.count, text[colon] == UInt8(ascii: ":") else { return nil }
    return skipSpace(colon + 1)
  }

  private func skipSpace(_ start: Int) -> Int { text[start...].firstIndex { $0 > 0x20 } ?? text.count }

  /// The closing quote, or the end of the text.
  private func endOfString(_ start: Int) -> Int {
    var index = start + 1
    while index < text.count, text[index] != UInt8(ascii: "\"") {
      index += text[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, text.count)
  }

  /// The position behind a string, a whole object or array, or at what ends a number or word.
  private func endOfValue(_ start: Int) -> Int {
    var index = start
    var depth = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""):
        index = min(endOfString(index) + 1, text.count)
        if depth == 0 { return index }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return index }
        depth -= 1
        if depth == 0 { return index + 1 }
      case UInt8(ascii: ","): if depth == 0 { return index }
      default: break
      }
      index += 1
    }
    return index
  }
}
