extension NetworkOperation {
  /// The answer: status 100 to 399, or whatever `validate` accepts.
  @discardableResult
  public func onCompletion(_ handler: @escaping @Sendable (NetworkResponse) -> Void) -> Self {
    add(.completion(handler))
    return self
  }

  /// The error, if it ends with one; a status of 400 to 599 is one, with the answer inside.
  @discardableResult
  public func onError(_ handler: @escaping @Sendable (NetworkError) -> Void) -> Self {
    add(.failure(handler))
    return self
  }

  /// Bytes of the request's body sent: at most ten times a second, and once at the end.
  @discardableResult
  public func onUploadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
    add(.uploadProgress(handler))
    return self
  }

  /// Bytes of the answer's body received: at most ten times a second, and once at the end.
  @discardableResult
  public func onDownloadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
    add(.downloadProgress(handler))
    return self
  }

  /// The origin said 304; comes before the completion.
  @discardableResult
  public func onNotModified(_ handler: @escaping @Sendable () -> Void) -> Self {
    add(.notModified(handler))
    return self
  }

  /// Every change of state, in order.
  @discardableResult
  public func onStateChange(_ handler: @escaping @Sendable (State) -> Void) -> Self {
    add(.state(handler))
    return self
  }
}
