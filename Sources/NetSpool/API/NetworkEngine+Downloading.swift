/// Downloads to a file in one call: `try await engine.download("disk.img", to: "/tmp/disk.img")`.
///
/// The file appears when it is whole. A download that broke off leaves a part beside it, where the origin allows that, and
/// the next call goes on with it: see ``FileDownloadStream/init(path:resume:partBytesMin:sha256:digests:)``.
extension NetworkEngine {
  /// Downloads to a file and waits for its end without blocking a thread. Throws what `response(for:)` throws.
  ///
  /// - Parameters:
  ///   - source: an absolute URL, or a path of the engine's host.
  ///   - file: the path of the file; its directory must exist.
  ///   - sha256: 64 hexadecimal digits; a body with others ends with `.digestMismatch`. Nil, the default: any.
  ///   - headers: fields of this request.
  ///   - onProgress: at most ten times a second, and once at the end; on the delivery target.
  @discardableResult
  public func download(
    _ source: String, to file: String, sha256: String? = nil, headers: NetworkRequest.Headers = [:],
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> NetworkResponse {
    try await response(for: downloading(source, file, sha256, headers, onProgress))
  }

  /// The same with closures, enqueued at once.
  @discardableResult
  public func download(
    _ source: String, to file: String, sha256: String? = nil, headers: NetworkRequest.Headers = [:],
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: @escaping @Sendable (NetworkError) -> Void,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> NetworkOperation {
    send(downloading(source, file, sha256, headers, onProgress), onCompletion, onError)
  }

  private func downloading(
    _ source: String, _ file: String, _ sha256: String?, _ headers: NetworkRequest.Headers,
    _ onProgress: (@Sendable (TransferProgress) -> Void)?
  ) -> NetworkOperation {
    let operation = operation(for: source)
    operation.headers = headers
    operation.addDownloadStream(FileDownloadStream(path: file, resume: true, sha256: sha256))
    if let onProgress { operation.onDownloadProgress(onProgress) }
    return operation
  }

  /// For an absolute URL, or a path of this engine's host.
  func operation(for source: String) -> NetworkOperation {
    let isURL = source.prefix { !"/?#".contains($0) }.hasSuffix(":") && source.contains("://")
    return isURL ? operation(url: source) : operation(path: source)
  }
}
