/// What a request carries, as its author described it. Nothing is read or encoded before `prepared()`.
enum RequestBody: Sendable {
  case none
  case bytes([UInt8], contentType: String?)
  /// `application/x-www-form-urlencoded`.
  case form([Parameter])
  /// Ready-made JSON text.
  case json([UInt8])
  case multipart(CoreMultipart)
  /// A file, read while it is sent and held to the state it had when it was enqueued.
  case file(path: String, contentType: String?)
  case stream(any UploadSource, contentType: String?)
  /// The parameters, in the author's own encoding.
  case custom(
    contentType: String, parameters: [Parameter],
    encode: @Sendable ([Parameter]) throws -> [UInt8])
}

extension RequestBody {
  /// The `Content-Type` it asks for; the request's own field wins.
  var contentType: String? {
    switch self {
    case .none: nil
    case .bytes(_, let type), .file(_, let type), .stream(_, let type): type
    case .form: FormBody.contentType
    case .json: FlatJSON.contentType
    case .multipart(let multipart): multipart.contentType
    case .custom(let type, _, _): type
    }
  }

  /// Encodes, and takes the fingerprints of files: the body cannot change unseen from here on.
  ///
  /// On the thread that enqueues: it may block on the disk and runs the author's encoder.
  /// Throws `.uploadSourceFailed`, `.invalidRequest` (a part's name; an encoder that threw).
  func prepared() throws(Failure) -> PreparedBody {
    switch self {
    case .none: .none
    case .bytes(let bytes, _), .json(let bytes): .bytes(bytes)
    case .form(let parameters): .bytes(FormBody.encode(parameters))
    case .multipart(let multipart): .multipart(try multipart.layout())
    case .file(let path, _): .file(path: path, promised: try FileIdentity.promised(by: path))
    case .stream(let source, _): .stream(source)
    case .custom(_, let parameters, let encode): .bytes(try Self.run(encode, parameters))
    }
  }

  private static func run(
    _ encode: ([Parameter]) throws -> [UInt8], _ parameters: [Parameter]
  ) throws(Failure) -> [UInt8] {
    do {
      return try encode(parameters)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.invalidRequest, reason: "encoder: \(error)")
    }
  }
}
