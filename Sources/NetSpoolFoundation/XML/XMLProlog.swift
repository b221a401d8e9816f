/// What comes before the root element (XML 1.0 section 2.8).
enum XMLProlog {
  /// There is a document type with an internal subset: `<!DOCTYPE a [...]>`. Entities and default attributes can
  /// be declared nowhere else, and a few hundred bytes of them unfold to gigabytes or name files and URLs.
  static func declaresAnything(_ text: String) -> Bool {
    var rest = text.utf8[...]
    while true {
      rest = rest.drop(while: XMLText.isBlank)
      if skip(&rest, from: "<!--", to: "-->") || skip(&rest, from: "<?", to: "?>") { continue }
      return rest.starts(with: "<!DOCTYPE".utf8) && opensSubset(rest)
    }
  }

  /// A bracket comes before the end of the document type, quoted text left out.
  private static func opensSubset(_ doctype: Substring.UTF8View) -> Bool {
    var quote: UInt8?
    for byte in doctype {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        if quote == nil { quote = byte } else if quote == byte { quote = nil }
      case UInt8(ascii: "["): if quote == nil { return true }
      case UInt8(ascii: ">"): if quote == nil { return false }
      default: break
      }
    }
    return false
  }

  /// Goes past a comment or an instruction, if the text begins with one; past everything if it has no end.
  private static func skip(_ rest: inout Substring.UTF8View, from start: String, to end: String) -> Bool {
    guard rest.starts(with: start.utf8) else { return false }
    rest = rest.dropFirst(start.utf8.count)
    let end = Array(end.utf8)
    while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
    rest = rest.dropFirst(end.count)
    return true
  }
}
