/// Requests to paths of the engine's own host, in one call: `try await engine.get("users/7")`.
///
/// Paths are joined as ``operation(path:method:parameters:)`` joins them. Parameters go to the query for GET, HEAD and
/// DELETE, and otherwise to the body, unless there is one. The async forms throw what `response(for:)` throws.
extension NetworkEngine {
  /// Gets a path and waits for the answer without blocking a thread.
  public func get(_ path: String, parameters: NetworkRequest.Parameters = [:]) async throws -> NetworkResponse
  {
    try await response(for: operation(path: path, method: .get, parameters: parameters))
  }

  /// Asks for the head of a path.
  public func head(_ path: String, parameters: NetworkRequest.Parameters = [:]) async throws
    -> NetworkResponse
  {
    try await response(for: operation(path: path, method: .head, parameters: parameters))
  }

  /// Deletes a path.
  public func delete(_ path: String, parameters: NetworkRequest.Parameters = [:]) async throws
    -> NetworkResponse
  {
    try await response(for: operation(path: path, method: .delete, parameters: parameters))
  }

  /// Posts to a path.
  public func post(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none
  ) async throws -> NetworkResponse {
    try await response(for: operation(.post, path, parameters, body))
  }

  /// Puts something at a path.
  public func put(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none
  ) async throws -> NetworkResponse {
    try await response(for: operation(.put, path, parameters, body))
  }

  /// Changes a part of what is at a path.
  public func patch(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none
  ) async throws -> NetworkResponse {
    try await response(for: operation(.patch, path, parameters, body))
  }

  private func operation(
    _ method: NetworkRequest.Method, _ path: String, _ parameters: NetworkRequest.Parameters,
    _ body: NetworkRequest.Body
  ) -> NetworkOperation {
    let operation = operation(path: path, method: method, parameters: parameters)
    if case .none = body { return operation }
    return operation.setBody(body)
  }
}

/// The same with closures, enqueued at once. They are called on the delivery target.
extension NetworkEngine {
  /// Gets a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func get(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(path: path, method: .get, parameters: parameters), onCompletion, onError)
  }

  /// Asks for the head of a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func head(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(path: path, method: .head, parameters: parameters), onCompletion, onError)
  }

  /// Deletes a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func delete(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(path: path, method: .delete, parameters: parameters), onCompletion, onError)
  }

  /// Posts to a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func post(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.post, path, parameters, body), onCompletion, onError)
  }

  /// Puts something at a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func put(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.put, path, parameters, body), onCompletion, onError)
  }

  /// Changes a part of what is at a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func patch(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.patch, path, parameters, body), onCompletion, onError)
  }

  private func send(
    _ operation: NetworkOperation, _ onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    _ onError: (@Sendable (NetworkError) -> Void)?
  ) -> NetworkOperation {
    operation.onCompletion(onCompletion)
    if let onError { operation.onError(onError) }
    enqueue(operation)
    return operation
  }
}
