internal import Glibc

/// A body that is ready to be sent, any number of times: a value, held by the request until its end.
enum PreparedBody: Sendable {
  case none
  case bytes([UInt8])
  case file(path: String, promised: FileVersion)
  case multipart(Multipart.Layout)
  case stream(any UploadStream)

  /// Bytes in all; nil: not known, so it is sent in chunks.
  var length: Int64? {
    switch self {
    case .none: 0
    case .bytes(let bytes): Int64(bytes.count)
    case .file(_, let promised): promised.size
    case .multipart(let layout): layout.length
    case .stream(let source): source.length
    }
  }

  /// A second attempt can send the same bytes.
  var canReplay: Bool {
    if case .stream(let source) = self { source.isReopenable } else { true }
  }
}

extension PreparedBody {
  /// A form without a file is in memory, and all that holds for such bodies holds for it.
  fileprivate init(_ layout: Multipart.Layout) {
    let parts = layout.segments.compactMap { segment -> [UInt8]? in
      if case .bytes(let bytes) = segment { bytes } else { nil }
    }
    let isWhole = parts.count == layout.segments.count
    self = isWhole ? .bytes(parts.reduce(into: []) { $0 += $1 }) : .multipart(layout)
  }
}

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
  func prepared(with parameters: NetworkRequest.Parameters = [:]) throws(NetworkError) -> PreparedBody {
    switch self {
    case .none: .none
    case .bytes(let bytes, _), .json(let bytes): .bytes(bytes)
    case .form(let parameters): .bytes(FormBody.encode(parameters.pairs))
    case .multipart(let multipart): PreparedBody(try multipart.layout())
    case .file(let path, _): .file(path: path, promised: try FileVersion.promised(by: path))
    case .stream(let source, _): .stream(source)
    case .custom(_, let encode): .bytes(try Self.run(encode, parameters))
    }
  }

  private static func run(
    _ encode: (NetworkRequest.Parameters) throws -> [UInt8], _ parameters: NetworkRequest.Parameters
  ) throws(NetworkError) -> [UInt8] {
    do {
      return try encode(parameters)
    } catch { throw NetworkError(thrown: error, .invalidRequest, reason: "encoder: \(error)") }
  }
}

extension FileVersion {
  /// The fingerprint of a file that is to be sent. Throws `.uploadSourceFailed`.
  static func promised(by path: String) throws(NetworkError) -> FileVersion {
    do throws(SystemError) {
      let status = try FileStatus(path: path)
      guard status.isRegular else { throw SystemError(number: EINVAL, call: "stat") }
      return FileVersion(status)
    } catch { throw failure(error) }
  }

  static func failure(_ error: SystemError) -> NetworkError {
    let reason =
      switch error.number {
      case ENOENT, ENOTDIR: "missing"
      case EACCES, EPERM, ELOOP: "unreadable"
      case EINVAL: "notAFile"
      default: error.call
      }
    return NetworkError(.uploadSourceFailed, reason: reason, underlying: .errno(error.number))
  }
}
