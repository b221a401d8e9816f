public import Foundation
public import NetSpool

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
  /// - Throws: `DecodingError` for what `propertyList` is nil for and for a list of another shape; and what
  ///   the type's own `init(from:)` throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: PropertyListDecoder
  ) throws -> Value {
    guard let data = checkedPropertyList else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a property list"))
    }
    return try decoder.decode(type, from: data)
  }

  private var checkedPropertyList: Data? {
    PropertyListCheck.readable(data, contentType: headers["Content-Type"])
  }
}
