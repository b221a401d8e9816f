extension NetworkRequest {
  /// What a request carries. Its `Content-Type` is set from it unless the request has one.
  public enum Body: Sendable {
    /// Nothing.
    case none
    /// Bytes as they are, with their type.
    case bytes([UInt8], contentType: String? = nil)
    /// `application/x-www-form-urlencoded`, in order.
    case form(Parameters)
    /// JSON text that is ready.
    case json([UInt8])
    /// Fields and files.
    case multipart(Multipart)
    /// A file, streamed; it must not change between enqueueing and sending (`.uploadSourceFailed`).
    case file(String, contentType: String? = nil)
    /// Bytes that are made while they are sent.
    case stream(any UploadStream, contentType: String? = nil)
    /// The request's parameters, encoded by a closure. It runs once, on the thread that enqueues.
    case custom(contentType: String, encode: @Sendable (Parameters) throws -> [UInt8])
  }

  /// How parameters travel in a body that has none of its own.
  public enum ParameterEncoding: Sendable, Hashable {
    /// `application/x-www-form-urlencoded`; the default.
    case form
    /// One flat JSON object of strings.
    case json
  }
}
