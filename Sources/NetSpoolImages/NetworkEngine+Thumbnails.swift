#if Images
public import NetSpool
internal import Synchronization

/// Pictures, made small: fetched once, decoded on a small pool of threads, and kept beside the picture in the cache. There
/// a thumbnail holds for as long as the picture holds, and goes with it.
extension NetworkEngine {
  /// Fetches a picture and makes a thumbnail of it.
  ///
  /// - Parameters:
  ///   - url: absolute, http or https.
  ///   - maxSide: its longest side in pixels, 1 to 16,383; 256 by default. A smaller picture is not enlarged.
  ///   - format: what it is written as; `.webP` by default.
  ///   - fit: `.contain` by default, which keeps the picture's shape.
  ///   - tag: a name of your own, to cancel by and to remove from the cache by.
  /// Throws what fetching throws, also `.decodeFailed` (`notAnImage`, `imageTruncated`); `.imageRejected` with the reason
  /// `format`, `pixels`, `damaged`, `time` or `memory`; `.invalidConfiguration`; and `CancellationError` when the task was
  /// cancelled, which ends the work.
  public func thumbnail(
    of url: String, maxSide: Int = 256, format: ThumbnailTransform.Format = .webP,
    fit: ThumbnailTransform.Fit = .contain, tag: String? = nil
  ) async throws -> NetworkThumbnail {
    let transform = ThumbnailTransform(maxSide: maxSide, format: format, fit: fit)
    return try await thumbnail(of: operation(url: url, tag: tag), as: transform)
  }

  /// The same for an operation of your own, with its priority, tag and fields, which is not enqueued yet.
  public func thumbnail(
    of operation: NetworkOperation, as transform: ThumbnailTransform, limits: ThumbnailLimits = .init()
  ) async throws -> NetworkThumbnail {
    let started = Mutex<ThumbnailOperation?>(nil)
    let result: Result<NetworkThumbnail, NetworkError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thumbnail = ThumbnailOperation(operation, of: self, transform, limits, on: .shared) {
          continuation.resume(returning: $0)
        }
        if Task.isCancelled { return thumbnail.cancel() }
        thumbnail.start()
        started.withLock { $0 = thumbnail }
        // A cancel that came before found nothing to end.
        if Task.isCancelled { thumbnail.cancel() }
      }
    } onCancel: {
      started.withLock { $0 }?.cancel()
    }
    if case .failure(let error) = result, error.code == .cancelled { try Task.checkCancellation() }
    return try result.get()
  }

  /// Fetches a picture, makes a thumbnail of it and calls back; begins at once.
  ///
  /// - Parameters:
  ///   - url: absolute, http or https.
  ///   - onCompletion: the thumbnail; on the delivery target.
  ///   - onError: the errors of the form that waits; on the delivery target.
  /// - Returns: the work under way, to cancel it.
  @discardableResult
  public func thumbnail(
    of url: String, maxSide: Int = 256, format: ThumbnailTransform.Format = .webP,
    fit: ThumbnailTransform.Fit = .contain, tag: String? = nil,
    onCompletion: @escaping @Sendable (NetworkThumbnail) -> Void,
    onError: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) -> ThumbnailOperation {
    thumbnail(
      of: operation(url: url, tag: tag), as: ThumbnailTransform(maxSide: maxSide, format: format, fit: fit),
      onCompletion: onCompletion, onError: onError)
  }

  /// The same for an operation of your own, with its priority, tag and fields, which is not enqueued yet.
  @discardableResult
  public func thumbnail(
    of operation: NetworkOperation, as transform: ThumbnailTransform, limits: ThumbnailLimits = .init(),
    onCompletion: @escaping @Sendable (NetworkThumbnail) -> Void,
    onError: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) -> ThumbnailOperation {
    let thumbnail = ThumbnailOperation(operation, of: self, transform, limits, on: .shared) { result in
      switch result {
      case .success(let made): onCompletion(made)
      case .failure(let error): onError(error)
      }
    }
    thumbnail.start()
    return thumbnail
  }

  private func operation(url: String, tag: String?) -> NetworkOperation {
    let operation = operation(url: url)
    operation.tag = tag
    return operation
  }
}
#endif
