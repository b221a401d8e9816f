public import Foundation
public import NetSpool

extension NetworkRequest {
  /// A request for an http or https URL, its base included. Any other fails with `.invalidURL` when enqueued.
  public init(
    url: URL, method: NetworkRequest.Method = .get, headers: NetworkRequest.Headers = [:], body: Body = .none
  ) {
    self.init(url: url.absoluteString, method: method, headers: headers, body: body)
  }
}

extension NetworkOperation {
  /// Adds bytes to a multipart body; the request becomes a POST if it was a GET.
  @discardableResult
  public func addData(_ data: Data, forKey key: String, mimeType: String? = nil, fileName: String? = nil)
    -> Self
  {
    addData([UInt8](data), forKey: key, mimeType: mimeType, fileName: fileName)
  }
}

extension NetworkEngine {
  /// Makes an operation for an http or https URL, its base included, of this host or any other. Any other ends with `.invalidURL`
  /// when enqueued.
  public func operation(
    url: URL, method: NetworkRequest.Method = .get, parameters: NetworkRequest.Parameters = [:]
  )
    -> NetworkOperation
  {
    operation(url: url.absoluteString, method: method, parameters: parameters)
  }
}

extension FileDownloadStream {
  /// A body into the file that a URL names.
  ///
  /// - Parameters:
  ///   - url: a `file:` URL; its directory must exist.
  ///   - append: behind an existing file instead of replacing it; false by default.
  ///   - digests: whether the report gets the SHA-256 of the bytes; false by default; 0.7 s of CPU per GiB.
  /// - Throws: `.invalidConfiguration` when the URL does not name a file.
  public convenience init(url: URL, append: Bool = false, digests: Bool = false) throws(NetworkError) {
    guard url.isFileURL else {
      throw NetworkError(code: .invalidConfiguration, reason: "FileDownloadStream: not a file URL")
    }
    self.init(path: url.path, append: append, digests: digests)
  }
}

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
    encoding value: some Encodable, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws -> Self {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    return .bytes([UInt8](try encoder.encode(value)), contentType: "application/x-plist")
  }
}

extension NetworkEngine {
  /// Makes an engine for a base URL: its text as ``NetworkEngine/init(url:configuration:)`` takes it.
  public convenience init(url: URL, configuration: Configuration = .init()) throws(NetworkError) {
    try self.init(url: url.absoluteString, configuration: configuration)
  }
}
