internal import Foundation

/// The text of an XML body, whatever it was encoded in: both readers then get the same UTF-8, and what is looked
/// for in it cannot hide in an encoding that one of them knows and we do not.
enum XMLText {
  /// Without byte order mark and XML declaration; nil when it cannot be read or has no markup.
  static func decode(_ data: Data, contentType: String?) -> String? {
    let declaration = declaration(data)
    let label = contentType.flatMap(charset) ?? declaration.flatMap(encoding)
    guard let encoding = mark(data) ?? named(label ?? "utf-8"),
      var text = String(data: data, encoding: encoding)
    else { return nil }
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    // NUL is in no XML, and Foundation traps on text that is nothing else.
    guard !text.utf8.contains(0) else { return nil }
    let rest = withoutDeclaration(text)
    return rest.utf8.first { !isBlank($0) } == UInt8(ascii: "<") ? String(rest) : nil
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private static func mark(_ data: Data) -> String.Encoding? {
    if data.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
    return data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE]) ? .utf16 : nil
  }

  /// UTF-16 must have a mark (XML 1.0 section 4.3.3); by name alone it has none.
  private static func named(_ label: String) -> String.Encoding? {
    switch label.lowercased() {
    case "utf-8", "utf8", "us-ascii", "ascii": .utf8
    case "iso-8859-1", "latin1": .isoLatin1
    case "windows-1252", "cp1252": .windowsCP1252
    case "utf-16be": .utf16BigEndian
    case "utf-16le": .utf16LittleEndian
    default: nil
    }
  }

  private static func charset(_ contentType: String) -> String? {
    for parameter in contentType.split(separator: ";").dropFirst() {
      let halves = parameter.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      if halves.count == 2, halves[0].lowercased() == "charset" {
        return halves[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
      }
    }
    return nil
  }

  /// `<?xml ... ?>` of a body whose encoding has ASCII in it.
  private static func declaration(_ data: Data) -> String? {
    let start = String(decoding: data.prefix(256), as: UTF8.self)
    guard hasDeclaration(start), let end = start.range(of: "?>") else { return nil }
    return String(start[..<end.lowerBound])
  }

  private static func encoding(_ declaration: String) -> String? {
    guard let name = declaration.range(of: "encoding") else { return nil }
    let value = declaration[name.upperBound...].drop { $0 != "\"" && $0 != "'" }
    guard let quote = value.first else { return nil }
    return String(value.dropFirst().prefix { $0 != quote })
  }

  private static func withoutDeclaration(_ text: String) -> Substring {
    guard hasDeclaration(text), let end = text.range(of: "?>") else { return text[...] }
    return text[end.upperBound...]
  }

  private static func hasDeclaration(_ text: String) -> Bool {
    text.utf8.starts(with: "<?xml".utf8) && text.utf8.dropFirst(5).first.map(isBlank) ?? false
  }
}
