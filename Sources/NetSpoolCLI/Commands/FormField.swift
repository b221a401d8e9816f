import ArgumentParser

/// A `--form k=v` or `--form k=@file`.
struct FormField: Equatable, Sendable, ExpressibleByArgument {
  enum Content: Equatable, Sendable {
    case text(String)
    /// Nil: whatever a file is.
    case file(String, type: String?)
  }

  let name: String
  let content: Content

  /// Nil without a name, or without a path behind the `@`.
  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
    name = String(argument[..<equals])
    let value = argument[argument.index(after: equals)...]
    guard value.hasPrefix("@") else {
      content = .text(String(value))
      return
    }
    let (path, type) = Self.split(value.dropFirst())
    guard !path.isEmpty, type?.isEmpty != true else { return nil }
    content = .file(String(path), type: type.map(String.init))
  }

  /// At the last `;type=`, so that a path may hold anything else.
  private static func split(_ text: Substring) -> (Substring, Substring?) {
    let mark = ";type="
    guard let place = text.indices.last(where: { text[$0...].hasPrefix(mark) }) else { return (text, nil) }
    return (text[..<place], text[place...].dropFirst(mark.count))
  }
}
