extension NetworkRequest.Body {
  /// The `Content-Type` it asks for; the request's own field wins.
  var contentType: String? {
    switch self {
    case .none: nil
    case .bytes(_, let type), .file(_, let type), .stream(_, let type): type
    case .form: FormBody.contentType
    case .json: FlatJSON.contentType
    case .multipart(let multipart): multipart.contentType
    case .custom(let type, _): type
    }
  }

  /// Encodes, and takes the fingerprints of files: the body cannot change unseen from here on.
  ///
  /// On the thread that enqueues: it may block on the disk and runs the author's encoder.
  /// Throws `.uploadSourceFailed`, `.invalidRequest` (a part's name; an encoder that threw).
  func prepared(with parameters: Parameters = [:]) throws(NetworkError) -> PreparedBody {
    switch self {
    case .none: .none
    case .bytes(let bytes, _), .json(let bytes): .bytes(bytes)
    case .form(let parameters): .bytes(FormBody.encode(parameters.pairs))
    case .multipart(let multipart): .multipart(try multipart.layout())
    case .file(let path, _): .file(path: path, promised: try FileVersion.promised(by: path))
    case .stream(let source, _): .stream(source)
    case .custom(_, let encode): .bytes(try Self.run(encode, parameters))
    }
  }

  private static func run(
    _ encode: (Parameters) throws -> [UInt8], _ parameters: Parameters
  ) throws(NetworkError) -> [UInt8] {
    do {
      return try encode(parameters)
    } catch let failure as NetworkError {
      throw failure
    } catch {
      throw NetworkError(.invalidRequest, reason: "encoder: \(error)")
    }
  }
}
