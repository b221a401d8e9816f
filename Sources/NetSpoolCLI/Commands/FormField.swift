import ArgumentParser
import NetSpool

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
  var place = 0

  init(name: String, content: Content, place: Int) {
    (self.name, self.content, self.place) = (name, content, place)
  }

  /// Nil without a name, or without a path behind the `@` or `<`.
  init?(argument: String) {
    let placed = PlacedText(argument)
    guard let (name, value) = Self.pair(placed.text) else { return nil }
    (self.name, place) = (name, placed.place)
    let attributes = Attributes(value)
    switch value.first {
    case "@":
      let path = attributes.value.dropFirst()
      guard !path.isEmpty, attributes.type?.isEmpty != true else { return nil }
      content = .file(String(path), type: attributes.type, name: attributes.fileName)
    case "<":
      guard value.count > 1 else { return nil }
      content = .textOf(String(attributes.value.dropFirst()))
      type = attributes.type
    default:
      content = .text(String(attributes.value))
      type = attributes.type
    }
  }

  fileprivate static func pair(_ text: String) -> (String, Substring)? {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
    return (String(text[..<equals]), text[text.index(after: equals)...])
  }

  /// What stands behind a value: `;type=text/plain;filename=a.txt`. A path may hold anything else, so only these are
  /// taken off, from the end.
  private struct Attributes {
    private(set) var value: Substring
    private(set) var type: String?
    private(set) var fileName: String?

    init(_ text: Substring) {
      value = text
      while let mark = value.lastIndex(of: ";") {
        let attribute = value[mark...].dropFirst().drop { $0 == " " }
        if attribute.hasPrefix("type="), type == nil {
          // A type may have parameters of its own behind a semicolon.
          type = String(attribute.dropFirst(5))
        } else if attribute.hasPrefix("filename="), fileName == nil {
          fileName = Self.unquoted(attribute.dropFirst(9))
        } else {
          return
        }
        value = value[..<mark]
      }
    }

    private static func unquoted(_ text: Substring) -> String {
      guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
      return text.dropFirst().dropLast().replacing("\\\"", with: "\"")
    }
  }
}

extension Substring {
  fileprivate func replacing(_ mark: String, with text: String) -> String {
    var (rest, output) = (self, "")
    while let first = rest.first {
      if rest.hasPrefix(mark) {
        output += text
        rest = rest.dropFirst(mark.count)
      } else {
        output.append(first)
        rest = rest.dropFirst()
      }
    }
    return output
  }
}

/// A `--form-string k=v`.
struct FormText: Equatable, Sendable, ExpressibleByArgument {
  let field: FormField

  init?(argument: String) {
    let placed = PlacedText(argument)
    guard let (name, value) = FormField.pair(placed.text) else { return nil }
    field = FormField(name: name, content: .text(String(value)), place: placed.place)
  }
}

extension FormField {
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
