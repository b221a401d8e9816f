extension NetworkRequest {
  private static let compressedBytesMax = 64 << 20

  /// Compresses the prepared body if that was asked for and is of use. On the thread that enqueues.
  ///
  /// Throws `.outOfMemory`.
  mutating func compressBody() throws(NetworkError) {
    guard hasExtras, extra.compression == .gzip, !headers.contains("Content-Encoding"),
      case .bytes(let bytes) = extra.prepared, !bytes.isEmpty, bytes.count <= Self.compressedBytesMax
    else { return }
    guard let compressed = GzipBody.compress(bytes) else {
      throw NetworkError(.outOfMemory, reason: "deflate")
    }
    extra.prepared = .bytes(compressed)
    extra.isCompressed = true
    headers.append(name: "Content-Encoding", value: "gzip")
  }
}
