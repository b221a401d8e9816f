public import Foundation
public import NetSpool

extension NetworkRequest {
  /// A request for an http or https URL, its base included. Any other fails with `.invalidURL` when enqueued.
  public init(
    url: URL, method: NetworkRequest.Method? = nil, headers: NetworkRequest.Headers = [:], body: Body = .none
  ) {
    self.init(url: url.absoluteString, method: method, headers: headers, body: body)
  }
}

extension NetworkEngine {
  /// Makes an operation for an http or https URL, its base included, of this host or any other. Any other ends with `.invalidURL`
  /// when enqueued.
  public func operation(
    url: URL, method: NetworkRequest.Method = .get, parameters: NetworkRequest.Parameters = [:]
  ) -> NetworkOperation {
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
    self.init(path: try url.checkedFilePath, append: append, digests: digests)
  }

  /// The same for a body that goes on where an earlier one broke off: see
  /// ``init(path:resume:partBytesMin:sha256:digests:)``.
  public convenience init(
    url: URL, resume: Bool, sha256: String? = nil, digests: Bool = false
  ) throws(NetworkError) {
    self.init(path: try url.checkedFilePath, resume: resume, sha256: sha256, digests: digests)
  }
}

extension URL {
  fileprivate var checkedFilePath: String {
    get throws(NetworkError) {
      if isFileURL { return path }
      throw NetworkError(code: .invalidConfiguration, reason: "not a file URL")
    }
  }
}

extension NetworkRequest.Body {
  /// A file, streamed. A URL that names none is a file that is not there: `.uploadSourceFailed`.
  public static func file(_ url: URL, contentType: String? = nil) -> Self {
    .file(url.isFileURL ? url.path : "", contentType: contentType)
  }

  /// A value as JSON, `application/json`. Encoded now, once, however often it is sent.
  ///
  /// - Parameters:
  ///   - value: any but a string, which is taken for JSON text that is ready.
  ///   - encoder: a fresh `JSONEncoder` by default.
  /// - Throws: `EncodingError`, for instance for a number that is not finite; and what the type's own
  ///   `encode(to:)` throws.
  @_disfavoredOverload  // bytes are JSON text that is ready
  public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Self {
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
  /// Gets an http or https URL, of this host or any other, and waits for the answer without blocking a thread.
  public func get(
    _ url: URL, parameters: NetworkRequest.Parameters = [:], headers: NetworkRequest.Headers = [:],
    timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkResponse {
    let operation = operation(url: url, parameters: parameters)
    operation.headers = headers
    operation.timeouts = timeouts
    return try await response(for: operation)
  }

  /// Gets a path, and decodes its answer: `try await engine.get("users/7", as: User.self)`. Throws what
  /// ``NetworkResponse/decoded(as:decoder:)-(_,JSONDecoder)`` throws as well.
  public func get<Value: Decodable>(
    _ path: String, as type: Value.Type, parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    try await get(path, parameters: parameters, headers: headers, timeouts: timeouts)
      .decoded(as: type, decoder: decoder)
  }

  /// Downloads to a file: see ``download(_:to:sha256:headers:onProgress:)``.
  ///
  /// - Throws: `.invalidConfiguration` when `file` does not name a file, and what that one throws.
  @discardableResult
  public func download(
    _ url: URL, to file: URL, sha256: String? = nil, headers: NetworkRequest.Headers = [:],
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> NetworkResponse {
    try await download(
      url.absoluteString, to: file.checkedFilePath, sha256: sha256, headers: headers, onProgress: onProgress)
  }

  /// Removes what is stored for a URL: see ``removeCached(url:)-(String)``.
  public func removeCached(url: URL) { removeCached(url: url.absoluteString) }

  /// Makes an engine for a base URL: its text as ``NetworkEngine/init(url:configuration:)`` takes it.
  public convenience init(url: URL, configuration: Configuration = .init()) throws(NetworkError) {
    try self.init(url: url.absoluteString, configuration: configuration)
  }
}
