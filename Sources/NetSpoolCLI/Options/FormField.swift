import ArgumentParser

/// A `--form k=v`, `--form k=@file` or `--form k=<file`.
struct FormField: Equatable, Sendable, ExpressibleByArgument {
  enum Content: Equatable, Sendable {
    case text(String)
    /// A file to upload; `-` is standard input. Its name is the path's last component unless one is given.
    case file(String, type: String?, name: String? = nil)
    /// The text of a file.
    case textOf(String)
  }

  let name: String
  let content: Content
  /// Of a text that names its own.
  var type: String?
  /// Of a text that goes as a file.
  var fileName: String?
  /// Why it cannot be sent. The parser's own sentence would show the value, which may be a secret.
  private(set) var problem: String?

  init(argument: String) {
    let (kind, text) = CommandWord.unmarked(argument)
    do throws(Mistake) { self = try kind == "string" ? FormField(plain: text) : FormField(text) } catch {
      (name, content, problem) = ("", .text(""), error.description)
    }
  }

  private init(plain text: String) throws(Mistake) {
    let (name, value) = try Self.pair(text, "--form-string")
    (self.name, content) = (name, .text(String(value)))
  }

  private init(_ text: String) throws(Mistake) {
    let (name, text) = try Self.pair(text, "--form")
    let mark = text.first
    let value = try FormValue(
      mark == "@" || mark == "<" ? text.dropFirst() : text, of: name, isFile: mark == "@")
    if mark == "(" {
      throw Mistake("--form \(name)=(...) begins a part of parts, which is not known here: \(FormValue.help)")
    }
    if mark == "@" || mark == "<", value.text.isEmpty { throw Mistake("--form \(name) names no file.") }
    if mark == "<", value.fileName != nil {
      throw Mistake(
        "--form \(name)=<file sends a text, which has no ';filename=': '\(name)=@file' sends a file.")
    }
    self.name = name
    switch mark {
    case "@": content = .file(value.text, type: value.type, name: value.fileName)
    case "<": (content, type) = (.textOf(value.text), value.type)
    default: (content, type, fileName) = (.text(value.text), value.type, value.fileName)
    }
  }

  private static func pair(_ text: String, _ option: String) throws(Mistake) -> (String, Substring) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw Mistake("\(option) is 'name=text'; a part without a name is not known here.")
    }
    return (String(text[..<equals]), text[text.index(after: equals)...])
  }

  /// The type of a file by its name, as curl guesses it.
  static func type(of path: String) -> String? {
    let types = [
      ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
      ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
      ".pdf": "application/pdf", ".xml": "application/xml",
    ]
    let path = path.lowercased()
    return types.first { path.hasSuffix($0.key) }?.value
  }
}

/// What stands behind the `=` of a `--form`, as curl reads it: a value, quoted or up to a semicolon, and its attributes.
private struct FormValue {
  private(set) var text = ""
  private(set) var type: String?
  private(set) var fileName: String?

  private let name: String
  /// Several files may stand there for curl, with commas between them.
  private let isFile: Bool
  private var rest: Substring

  static let help = "--form-string sends any text as it is."

  init(_ text: Substring, of name: String, isFile: Bool) throws(Mistake) {
    (self.name, self.isFile, rest) = (name, isFile, text)
    self.text = try word()
    while rest.first == ";" {
      rest.removeFirst()
      try readAttribute()
    }
    if rest.first == "," {
      throw Mistake(
        "--form \(name) has a comma: give each file a --form of its own, and quote a name with a comma, '@\"a,b\"'."
      )
    }
  }

  private mutating func readAttribute() throws(Mistake) {
    skipBlanks()
    if take("type=") { return try readType() }
    if take("filename=") { return fileName = try word() }
    for unknown in ["encoder=", "headers="] where take(unknown) {
      throw Mistake("--form \(name): ';\(unknown)' is not known here, only ';type=' and ';filename='.")
    }
    if try !word().isEmpty {
      throw Mistake(
        "--form \(name): behind a ';' only 'type=' and 'filename=' are known. A value with a ';' stands in double quotes, "
          + "'\(name)=\"a;b\"'; \(Self.help)")
    }
  }

  /// A type may have parameters behind semicolons of its own: `text/html; charset=utf-8`.
  private mutating func readType() throws(Mistake) {
    skipBlanks()
    var found = rest.prefix { !isEnd($0) }
    rest = rest[found.endIndex...]
    while rest.first == ";" {
      let parameter = rest.dropFirst().prefix { !isEnd($0) }
      let word = parameter.drop(while: \.isWhitespace).lowercased()
      if ["filename=", "headers=", "encoder="].contains(where: word.hasPrefix) { break }
      rest = rest[parameter.endIndex...]
      found = found.base[found.startIndex..<parameter.endIndex]
    }
    let halves = found.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count >= 2, !halves[0].isEmpty, !halves[0].contains(" "), !halves[1].isEmpty else {
      throw Mistake("--form \(name): a type is as 'text/plain'.")
    }
    type = found.trimmingBlanks
  }

  /// A word in double quotes, where `\"` and `\\` are escaped; or all up to a semicolon, without blanks at its ends.
  private mutating func word() throws(Mistake) -> String {
    skipBlanks()
    if let quoted = quoted() {
      let behind = rest.prefix { !isEnd($0) }
      guard behind.allSatisfy(\.isWhitespace) else {
        throw Mistake("--form \(name): there is text behind the closing quote; \(Self.help)")
      }
      rest = rest[behind.endIndex...]
      return quoted
    }
    let word = rest.prefix { !isEnd($0) }
    rest = rest[word.endIndex...]
    return word.trimmingBlanks
  }

  /// Nil without a quote, or with one that is never closed: such a word is a plain one.
  private mutating func quoted() -> String? {
    guard rest.first == "\"" else { return nil }
    var (ahead, word) = (rest.dropFirst(), "")
    while let letter = ahead.popFirst() {
      if letter == "\"" {
        rest = ahead
        return word
      }
      let isEscape = letter == "\\" && (ahead.first == "\"" || ahead.first == "\\")
      word.append(isEscape ? ahead.removeFirst() : letter)
    }
    return nil
  }

  private mutating func take(_ word: String) -> Bool {
    guard rest.prefix(word.count).lowercased() == word else { return false }
    rest = rest.dropFirst(word.count)
    return true
  }

  private mutating func skipBlanks() { rest = rest.drop(while: \.isWhitespace) }
  private func isEnd(_ letter: Character) -> Bool { letter == ";" || isFile && letter == "," }
}
