internal import Foundation
public import FoundationXML
public import NetSpool

extension NetworkResponse {
  /// The body as an XML document, whatever its `Content-Type` says. Blank text between elements is left out.
  ///
  /// Nil for an empty body and for one that is not well-formed, HTML included. Nil too, for safety, for more than
  /// 200 levels, 256 attributes of an element, 256 namespaces in force or 10,000,000 bytes of one text, and for a
  /// document type with declarations of its own (`<!DOCTYPE a [...]>`). Nothing outside the body is ever read.
  /// The bytes stay in `body`. Parsed at each call.
  ///
  /// The encoding is that of the byte order mark, else of the `charset` of the `Content-Type`, else of the XML
  /// declaration, else UTF-8 (RFC 7303 section 3). UTF-8, US-ASCII, ISO-8859-1, windows-1252 and UTF-16 are read.
  public var xml: XMLDocument? {
    // Foundation's document takes anything and leaves out what it does not understand, so another reader, which
    // does say what is wrong, goes first.
    guard let data = XMLCheck.sound(data, contentType: headers["Content-Type"]) else { return nil }
    return try? XMLDocument(data: data, options: .nodeLoadExternalEntitiesNever)
  }
}
