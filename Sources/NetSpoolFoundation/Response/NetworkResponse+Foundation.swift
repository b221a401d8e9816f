public import Foundation
public import FoundationXML
public import NetSpool

extension Data {
  /// The bytes of a body, copied once. Empty when the body went to streams.
  public init(_ body: ResponseBytes) { self.init([UInt8](body)) }
}

extension NetworkResponse {
  /// The bytes of the body, copied at each call; empty when there is no body or it went to streams.
  public var data: Data { Data(body) }

  /// The URL that answered, after redirects. Nil when Foundation cannot read it; `finalURL` has its text.
  public var url: URL? { URL(string: finalURL) }

  /// The body as JSON (RFC 8259): dictionaries, arrays, strings, numbers and `NSNull`. Any value may stand at
  /// the top.
  ///
  /// Nil for an empty body and for one that is not JSON, whatever its `Content-Type` says; the bytes stay in
  /// `body`. Parsed at each call. Nesting is limited to 512 levels by Foundation, which forgives a comma
  /// behind the last element.
  public var json: Any? { try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) }

  /// The body as a value of yours, read as JSON whatever its `Content-Type` says.
  ///
  /// The bytes stay in `body`.
  /// - Parameters:
  ///   - type: what to make; inferred unless given.
  ///   - decoder: a fresh `JSONDecoder` by default.
  /// - Throws: `.decodeFailed` for an empty body, for one that is not JSON and for JSON of another shape, with this answer
  ///   as its `response` and the `DecodingError`, or what the type's own `init(from:)` threw, as `thrown`.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoding(type, of: "body", self) { try decoder.decode(type, from: data) }
  }
}

/// A value that was decoded; what a decoder throws becomes `.decodeFailed`.
private func decoding<Value>(
  _ type: Value.Type, of place: String, _ response: NetworkResponse?, _ decode: () throws -> Value
) throws -> Value {
  do { return try decode() } catch {
    throw NetworkError(
      code: .decodeFailed, reason: "the \(place) is no \(type): \(error)", response: response, thrown: error)
  }
}

extension NetworkStreamedResponse.Event {
  /// The text of the event as a value of yours, read as JSON. Throws `.decodeFailed`, with the `DecodingError` as `thrown`.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoding(type, of: "event", nil) { try decoder.decode(type, from: Data(data.utf8)) }
  }
}

extension NetworkResponse {
  /// The body as a property list: dictionaries, arrays, strings, numbers, dates and data.
  ///
  /// Reads the XML form, within the bounds of `xml`, and the binary form. The old text form is left out: nearly
  /// any text is one. Nil for everything else, for more than 200 levels, and for a binary list that unfolds to
  /// more objects than it has bytes; the bytes stay in `body`. Parsed at each call.
  public var propertyList: Any? {
    guard let data = checkedPropertyList else { return nil }
    // Safe because the pointer it could write the form to is nil.
    return try? unsafe PropertyListSerialization.propertyList(from: data, format: nil)
  }

  /// The body as a value of yours, read as a property list, XML or binary.
  ///
  /// The bytes stay in `body`.
  /// - Parameters:
  ///   - type: what to make; inferred unless given.
  ///   - decoder: a `PropertyListDecoder`.
  /// - Throws: `.decodeFailed` for what `propertyList` is nil for and for a list of another shape, with this answer as its
  ///   `response` and the `DecodingError`, or what the type's own `init(from:)` threw, as `thrown`.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: PropertyListDecoder
  ) throws -> Value {
    try decoding(type, of: "body", self) {
      guard let data = checkedPropertyList else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a property list"))
      }
      return try decoder.decode(type, from: data)
    }
  }

  private var checkedPropertyList: Data? {
    PropertyListCheck.readable(data, contentType: headers["Content-Type"])
  }

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
