public import Foundation
public import NetSpool

extension NetworkRequest.Body {
  /// Bytes as they are, with their type; none unless told otherwise.
  public static func data(_ data: Data, contentType: String? = nil) -> Self {
    .bytes([UInt8](data), contentType: contentType)
  }

  /// A value as JSON, `application/json`. Encoded now, once, however often it is sent.
  ///
  /// - Parameters:
  ///   - value: may be a single string or number.
  ///   - encoder: a fresh `JSONEncoder` by default.
  /// - Throws: `EncodingError`, for instance for a number that is not finite; and what the type's own
  ///   `encode(to:)` throws.
  public static func json(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Self
  {
    .json([UInt8](try encoder.encode(value)))
  }

  /// A value as a property list, `application/x-plist`. Encoded now, once, however often it is sent.
  ///
  /// - Parameters:
  ///   - value: must become a dictionary or an array.
  ///   - format: `.xml` by default, or `.binary`.
  /// - Throws: `EncodingError` for a single string or number, for the format `.openStep`, and for what the type's
  ///   own `encode(to:)` throws.
  public static func propertyList(
    _ value: some Encodable, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws -> Self {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    return .bytes([UInt8](try encoder.encode(value)), contentType: "application/x-plist")
  }
}
