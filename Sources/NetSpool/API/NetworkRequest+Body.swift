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

    var core: RequestBody {
      switch self {
      case .none: .none
      case .bytes(let bytes, let type): .bytes(bytes, contentType: type)
      case .form(let parameters): .form(parameters.core)
      case .json(let bytes): .json(bytes)
      case .multipart(let multipart): .multipart(multipart.core)
      case .file(let path, let type): .file(path: path, contentType: type)
      case .stream(let stream, let type): .stream(StreamUpload(stream: stream), contentType: type)
      case .custom(let type, let encode):
        .custom(contentType: type, parameters: []) { try encode(Parameters(core: $0)) }
      }
    }

    init(_ core: RequestBody) {
      self =
        switch core {
        case .none: .none
        case .bytes(let bytes, let type): .bytes(bytes, contentType: type)
        case .form(let parameters): .form(Parameters(core: parameters))
        case .json(let bytes): .json(bytes)
        case .multipart(let multipart): .multipart(Multipart(core: multipart))
        case .file(let path, let type): .file(path, contentType: type)
        case .stream(let source, let type): Self.stream(source, type)
        case .custom(let type, _, let encode): .custom(contentType: type) { try encode($0.core) }
        }
    }

    private static func stream(_ source: any UploadSource, _ type: String?) -> Self {
      guard let upload = source as? StreamUpload else {
        preconditionFailure("NetSpool: every upload source of a request was made from an UploadStream")
      }
      return .stream(upload.stream, contentType: type)
    }
  }

  /// How parameters travel in a body that has none of its own.
  public enum ParameterEncoding: Sendable, Hashable {
    /// `application/x-www-form-urlencoded`; the default.
    case form
    /// One flat JSON object of strings.
    case json
  }
}
