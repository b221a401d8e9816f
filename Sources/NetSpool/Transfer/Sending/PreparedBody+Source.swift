extension PreparedBody {
  /// The source for one attempt; nil without a body. `ready`, which may be called from any thread, says
  /// that a source that answered `.pause` has bytes again.
  func makeSource(ready: @escaping @Sendable () -> Void) -> (any BodySource)? {
    switch self {
    case .none: nil
    case .bytes(let bytes): BytesSource(bytes)
    case .file(let path, let promised): FileSource(path: path, promised: promised)
    case .multipart(let layout): MultipartSource(layout)
    case .stream(let source):
      LengthCheckedSource(ChunkSource(source, ready: ready), declared: source.length)
    }
  }
}
