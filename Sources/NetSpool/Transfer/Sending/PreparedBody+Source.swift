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

extension PreparedBody {
  /// All of it in memory, for what must outlive its files. Reads files on this thread.
  ///
  /// Throws `bodyTooLarge`, `invalidRequest(stream)` for what can be read once only, `uploadSourceFailed`,
  /// `uploadLengthMismatch`.
  func bytes(atMost bytesMax: Int) throws(NetworkError) -> [UInt8] {
    switch self {
    case .none: return []
    case .stream: throw NetworkError(.invalidRequest, reason: "stream")
    case .bytes(let bytes) where bytes.count <= bytesMax: return bytes
    case .bytes, .file, .multipart: break
    }
    guard let length, length <= Int64(bytesMax), let source = makeSource(ready: {}) else {
      throw NetworkError(.bodyTooLarge, reason: "\(bytesMax)")
    }
    defer { source.close() }
    try source.open()
    return try Self.read(source, Int(length))
  }

  private static func read(_ source: any BodySource, _ length: Int) throws(NetworkError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: length)
    var filled = 0
    while filled < length {
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        Result { () throws(NetworkError) in
          unsafe try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        }
      }
      guard case .bytes(let count) = try result.get() else {
        throw NetworkError(.uploadLengthMismatch, reason: "got \(filled) of \(length) bytes")
      }
      filled += count
    }
    return bytes
  }
}
