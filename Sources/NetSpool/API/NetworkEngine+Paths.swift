/// Requests to paths of the engine's own host, in one call: `try await engine.get("users/7")`.
///
/// Paths are joined as ``operation(path:method:parameters:)`` joins them. Parameters go to the query for GET, HEAD and
/// DELETE, and otherwise to the body, unless there is one. Fields and limits of time are the request's own; the engine's
/// count where there are none. The async forms throw what `response(for:)` throws.
extension NetworkEngine {
  /// Gets a path and waits for the answer without blocking a thread.
  public func get(
    _ path: String, parameters: NetworkRequest.Parameters = [:], headers: NetworkRequest.Headers = [:],
    timeouts: NetworkRequest.Timeouts = .init(), cachePolicy: CachePolicy? = nil
  ) async throws -> NetworkResponse {
    try await response(for: operation(.get, path, parameters, .none, headers, timeouts, cachePolicy))
  }

  /// Asks for the head of a path.
  public func head(
    _ path: String, parameters: NetworkRequest.Parameters = [:], headers: NetworkRequest.Headers = [:],
    timeouts: NetworkRequest.Timeouts = .init(), cachePolicy: CachePolicy? = nil
  ) async throws -> NetworkResponse {
    try await response(for: operation(.head, path, parameters, .none, headers, timeouts, cachePolicy))
  }

  /// Deletes a path.
  @discardableResult
  public func delete(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkResponse {
    try await response(for: operation(.delete, path, parameters, .none, headers, timeouts))
  }

  /// Gets a path, and returns when the head of its answer is there; the body is yours to read: see ``stream(_:)-(NetworkRequest)``.
  public func stream(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkStreamedResponse {
    try await stream(operation(.get, path, parameters, .none, headers, timeouts))
  }

  /// Posts to a path.
  @discardableResult
  public func post(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkResponse {
    try await response(for: operation(.post, path, parameters, body, headers, timeouts))
  }

  /// Puts something at a path.
  @discardableResult
  public func put(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkResponse {
    try await response(for: operation(.put, path, parameters, body, headers, timeouts))
  }

  /// Changes a part of what is at a path.
  @discardableResult
  public func patch(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init()
  ) async throws -> NetworkResponse {
    try await response(for: operation(.patch, path, parameters, body, headers, timeouts))
  }

  private func operation(
    _ method: NetworkRequest.Method, _ path: String, _ parameters: NetworkRequest.Parameters,
    _ body: NetworkRequest.Body, _ headers: NetworkRequest.Headers, _ timeouts: NetworkRequest.Timeouts,
    _ cachePolicy: CachePolicy? = nil
  ) -> NetworkOperation {
    let operation = operation(path: path, method: method, parameters: parameters)
    if case .none = body, headers.count == 0, timeouts == .standard, cachePolicy == nil { return operation }
    return operation.configure { request in
      request.headers = headers
      request.timeouts = timeouts
      request.cachePolicy = cachePolicy
      request.body = body
    }
  }
}

/// The same for a path of components, `["users", id]`, as ``operation(path:method:parameters:)`` takes them. Each is escaped, so
/// that none can leave its place.
extension NetworkEngine {
  /// Gets a path of components.
  public func get(
    path components: [any LosslessStringConvertible], parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:]
  ) async throws -> NetworkResponse {
    try await response(for: operation(.get, components, parameters, .none, headers))
  }

  /// Deletes a path of components.
  @discardableResult
  public func delete(
    path components: [any LosslessStringConvertible], parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:]
  ) async throws -> NetworkResponse {
    try await response(for: operation(.delete, components, parameters, .none, headers))
  }

  /// Posts to a path of components.
  @discardableResult
  public func post(
    path components: [any LosslessStringConvertible], parameters: NetworkRequest.Parameters = [:],
    body: NetworkRequest.Body = .none, headers: NetworkRequest.Headers = [:]
  ) async throws -> NetworkResponse {
    try await response(for: operation(.post, components, parameters, body, headers))
  }

  /// Puts something at a path of components.
  @discardableResult
  public func put(
    path components: [any LosslessStringConvertible], parameters: NetworkRequest.Parameters = [:],
    body: NetworkRequest.Body = .none, headers: NetworkRequest.Headers = [:]
  ) async throws -> NetworkResponse {
    try await response(for: operation(.put, components, parameters, body, headers))
  }

  /// Changes a part of what is at a path of components.
  @discardableResult
  public func patch(
    path components: [any LosslessStringConvertible], parameters: NetworkRequest.Parameters = [:],
    body: NetworkRequest.Body = .none, headers: NetworkRequest.Headers = [:]
  ) async throws -> NetworkResponse {
    try await response(for: operation(.patch, components, parameters, body, headers))
  }

  private func operation(
    _ method: NetworkRequest.Method, _ components: [any LosslessStringConvertible],
    _ parameters: NetworkRequest.Parameters, _ body: NetworkRequest.Body, _ headers: NetworkRequest.Headers
  ) -> NetworkOperation {
    operation(path: components, method: method, parameters: parameters).configure {
      $0.headers = headers
      $0.body = body
    }
  }
}

/// The same with closures, enqueued at once. They are called on the delivery target.
extension NetworkEngine {
  /// Gets a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func get(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    cachePolicy: CachePolicy? = nil, onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.get, path, parameters, .none, headers, timeouts, cachePolicy), onCompletion, onError)
  }

  /// Asks for the head of a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func head(
    _ path: String, parameters: NetworkRequest.Parameters = [:],
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    cachePolicy: CachePolicy? = nil, onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.head, path, parameters, .none, headers, timeouts, cachePolicy), onCompletion, onError)
  }

  /// Deletes a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func delete(
    _ path: String, parameters: NetworkRequest.Parameters = [:], headers: NetworkRequest.Headers = [:],
    timeouts: NetworkRequest.Timeouts = .init(), onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.delete, path, parameters, .none, headers, timeouts), onCompletion, onError)
  }

  /// Posts to a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func post(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.post, path, parameters, body, headers, timeouts), onCompletion, onError)
  }

  /// Puts something at a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func put(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.put, path, parameters, body, headers, timeouts), onCompletion, onError)
  }

  /// Changes a part of what is at a path. Without `onError` an error goes to ``Configuration/onUnhandledFailure``.
  @discardableResult
  public func patch(
    _ path: String, parameters: NetworkRequest.Parameters = [:], body: NetworkRequest.Body = .none,
    headers: NetworkRequest.Headers = [:], timeouts: NetworkRequest.Timeouts = .init(),
    onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    onError: (@Sendable (NetworkError) -> Void)? = nil
  ) -> NetworkOperation {
    send(operation(.patch, path, parameters, body, headers, timeouts), onCompletion, onError)
  }

  func send(
    _ operation: NetworkOperation, _ onCompletion: @escaping @Sendable (NetworkResponse) -> Void,
    _ onError: (@Sendable (NetworkError) -> Void)?
  ) -> NetworkOperation {
    operation.onCompletion(onCompletion)
    if let onError { operation.onError(onError) }
    enqueue(operation)
    return operation
  }
}
