/// Pictures: fetched, looked at, and kept when there is a cache.
extension NetworkEngine {
  /// Fetches a picture and enqueues at once. The bytes decide what it is, whatever `Content-Type` says.
  ///
  /// - Parameters:
  ///   - url: absolute, http or https.
  ///   - onCompletion: the picture, the URL that was asked for, and whether it came from the cache; on the
  ///     delivery target.
  ///   - onError: also for a body that is no whole picture, `.decodeFailed` with the reason `notAnImage` or
  ///     `imageTruncated`; such a body is not kept in the cache.
  /// - Returns: the operation, to cancel it or to change its priority.
  @discardableResult
  public func image(
    at url: String, onCompletion: @escaping @Sendable (NetworkImage, String, Bool) -> Void,
    onError: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) -> NetworkOperation {
    let operation = operation(url: url)
    operation.demandImage()
    operation.onCompletion { response in
      guard let image = response.image else { return }
      onCompletion(image, url, response.isCachedResponse)
    }
    operation.onError(onError)
    enqueue(operation)
    return operation
  }
}

extension NetworkOperation {
  /// An answer that is no whole picture becomes an error, and leaves the cache.
  func demandImage() {
    let engine = engine
    demand { request, response in
      let image = NetworkImage(response.body)
      if let image, image.isComplete { return nil }
      for place in Set([request.url, response.finalURL]) {
        engine.cache?.remove(answerTo: request, at: place)
      }
      return NetworkError(
        .decodeFailed, reason: image == nil ? "notAnImage" : "imageTruncated", sendState: .answered)
    }
  }
}
