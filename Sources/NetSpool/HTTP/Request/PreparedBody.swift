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
