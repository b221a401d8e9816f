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
    let data = Data(text.utf8)
    return isSound(data) ? data : nil
  }

  private static func isSound(_ data: Data) -> Bool {
    let parser = XMLParser(data: data)
    let check = XMLCheck()
    parser.delegate = check
    // It may say yes and have an error all the same: the end came too early, or a prefix has no namespace.
    return parser.parse() && parser.parserError == nil && check.elements > 0
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
