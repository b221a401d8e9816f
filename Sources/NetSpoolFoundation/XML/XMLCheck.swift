internal import Foundation
internal import FoundationXML

/// Reads a document once, keeping nothing, to find out whether it is well-formed and no trouble for who keeps it.
final class XMLCheck: NSObject, XMLParserDelegate {
  /// libxml2's trees end at 256, silently.
  private static let depthMax = 200
  /// libxml2 goes through all of them for each name with a prefix.
  private static let namespacesMax = 256

  /// Of each open element, how many namespaces it declares.
  private var open: [Int] = []
  private var namespaces = 0
  private var elements = 0

  /// The document in UTF-8, without XML declaration, if it can be given to a reader that checks nothing.
  static func sound(_ data: Data, contentType: String?) -> Data? {
    guard let text = XMLText.decode(data, contentType: contentType), !XMLProlog.declaresAnything(text),
      !XMLTags.haveTooManyAttributes(text)
    else { return nil }
    // Foundation reads past nil for an instruction that is a name and nothing else (`<?php?>`). A blank before its
    // end makes it one with empty text, and changes nothing that is looked at here wherever else the two stand.
    let parser = XMLParser(data: blankBeforeEnds(of: text))
    let check = XMLCheck()
    parser.delegate = check
    // It may say yes and have an error all the same: the end came too early, or a prefix has no namespace.
    let isSound = parser.parse() && parser.parserError == nil && check.elements > 0
    return isSound ? Data(text.utf8) : nil
  }

  /// By bytes: the two may be part of characters that are more.
  private static func blankBeforeEnds(of text: String) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 64)
    for byte in text.utf8 {
      if byte == UInt8(ascii: ">"), bytes.last == UInt8(ascii: "?") {
        bytes[bytes.count - 1] = UInt8(ascii: " ")
        bytes.append(UInt8(ascii: "?"))
      }
      bytes.append(byte)
    }
    return Data(bytes)
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    let declared = attributes.keys.count { $0.hasPrefix("xmlns") }
    open.append(declared)
    namespaces += declared
    elements += 1
    if open.count > Self.depthMax || namespaces > Self.namespacesMax { parser.abortParsing() }
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    namespaces -= open.popLast() ?? 0
  }
}

/// The part before the root element (XML 1.0 section 2.8).
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

/// The start tags of a document, without a parser: libxml2 compares each attribute of an element with all others
/// before it reports the first.
enum XMLTags {
  static let attributesMax = 256

  /// A tag has more attributes than that.
  ///
  /// No value has a `<` in it (XML 1.0 section 3.1), so every tag begins anew at one, whatever came before. In
  /// comments and CDATA this takes something for a tag that is none; that it is refused for 257 equals signs
  /// there is the price.
  static func haveTooManyAttributes(_ text: String) -> Bool {
    var isInTag = false
    var attributes = 0
    var quote: UInt8?
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "<"): (isInTag, attributes, quote) = (true, 0, nil)
      case _ where !isInTag: break
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        if quote == nil { quote = byte } else if quote == byte { quote = nil }
      case _ where quote != nil: break
      case UInt8(ascii: ">"): isInTag = false
      case UInt8(ascii: "="):
        attributes += 1
        if attributes > attributesMax { return true }
      default: break
      }
    }
    return false
  }
}

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
