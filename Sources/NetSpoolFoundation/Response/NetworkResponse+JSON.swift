public import Foundation
public import NetSpool

extension NetworkResponse {
  /// The body as JSON (RFC 8259): dictionaries, arrays, strings, numbers and `NSNull`. Any value may stand at
  /// the top.
  ///
  /// Nil for an empty body and for one that is not JSON, whatever its `Content-Type` says; the bytes stay in
  /// `body`. Parsed at each call. Nesting is limited to 512 levels by Foundation, which forgives a comma
  /// behind the last element.
  public var jsonObject: Any? { try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) }

  /// The body as a value of yours, read as JSON whatever its `Content-Type` says.
  ///
  /// The bytes stay in `body`.
  /// - Parameters:
  ///   - type: what to make; inferred unless given.
  ///   - decoder: a fresh `JSONDecoder` by default.
  /// - Throws: `DecodingError` for an empty body, for one that is not JSON and for JSON of another shape;
  ///   and what the type's own `init(from:)` throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: data)
  }
}
