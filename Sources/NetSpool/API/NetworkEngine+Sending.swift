internal import Dispatch

/// Making operations. An unusable URL does not trap: the operation ends with `.invalidURL` when enqueued.
extension NetworkEngine {
  /// Makes an operation for a path of this engine's host: `scheme://host[:port]/basePath/path`, with single slashes where the
  /// parts meet. Nil and `/` are the base itself.
  public func operation(
    path: String?, method: NetworkRequest.Method = .get, parameters: NetworkRequest.Parameters = [:]
  ) -> NetworkOperation {
    var request = NetworkRequest(url: path ?? "", method: method)
    request.parameters = parameters
    return operation(forPathOf: consume request)
  }

  /// Makes an operation for a path of components: `["users", id, "photos"]`. Each is escaped, so that none can leave its
  /// place: a `/`, `?` or `#` in it stands for itself, and `.` and `..` end with `.invalidURL`.
  public func operation(
    path components: [any LosslessStringConvertible], method: NetworkRequest.Method = .get,
    parameters: NetworkRequest.Parameters = [:]
  ) -> NetworkOperation {
    let parts = components.map(\.description)
    let made = operation(
      path: parts.map(PercentCoding.component).joined(separator: "/"), method: method, parameters: parameters)
    if parts.contains(".") || parts.contains("..") || parts.contains("") {
      made.fail(NetworkError(.invalidURL, reason: "a path component that names no resource"))
    }
    return made
  }

  /// Makes an operation for an absolute http or https URL, of this host or any other.
  public func operation(
    url: String, method: NetworkRequest.Method = .get, parameters: NetworkRequest.Parameters = [:]
  ) -> NetworkOperation {
    var request = NetworkRequest(url: url, method: method)
    request.parameters = parameters
    return NetworkOperation(consume request, engine: self)
  }

  /// Makes an operation for a request made elsewhere.
  public func operation(_ request: NetworkRequest) -> NetworkOperation {
    guard request.isRelative else { return NetworkOperation(request, engine: self) }
    var request = request
    request.isRelative = false
    return operation(forPathOf: consume request)
  }

  private func operation(forPathOf request: consuming NetworkRequest) -> NetworkOperation {
    do throws(NetworkError) { request.url = try absolute(request.url) } catch {
      let operation = NetworkOperation(request, engine: self)
      operation.fail(error)
      return operation
    }
    return NetworkOperation(request, engine: self)
  }

  /// A path is this host's. An engine without one has whole URLs in its place, and no other: who passes on what a user has
  /// written means a path.
  private func absolute(_ path: String) throws(NetworkError) -> String {
    if URLText.isWhole(path) {
      if host == nil { return path }
      throw NetworkError(
        .invalidURL, reason: "a URL in place of a path; NetworkRequest(url:) and operation(url:) take one")
    }
    return try URLText.make(
      scheme: configuration.scheme.rawValue, host: host, port: configuration.port,
      basePath: configuration.basePath, path: path)
  }
}

extension NetworkEngine {
  /// Hands an operation to the queue and returns at once. An operation runs once: while it is under way a second call
  /// does nothing, and when it has finished ``Configuration/onUnhandledFailure`` gets `.invalidRequest` (`enqueued`). See
  /// ``NetworkOperation/again()``. Costs about a microsecond; a body is encoded, and files are looked at, here.
  public func enqueue(_ operation: NetworkOperation) {
    if operation.enqueue() || operation.state != .finished { return }
    let failure = NetworkError(.invalidRequest, cause: .enqueued).about(operation.request.url)
    deliverLate { [self] in configuration.onUnhandledFailure?(failure) }
  }

  /// With `forceReload`, asks the origin whatever the cache holds: the policy is `.reload`.
  public func enqueue(_ operation: NetworkOperation, forceReload: Bool) {
    if forceReload { operation.cachePolicy = .reload }
    enqueue(operation)
  }

  /// Sends a request and waits for its answer without blocking a thread.
  ///
  /// Throws a `NetworkError`, or `CancellationError` when the task was cancelled, which cancels the operation.
  public func response(for request: NetworkRequest) async throws -> NetworkResponse {
    try await response(for: operation(request))
  }

  /// Enqueues an operation, with whatever handlers it has, and waits for its answer without blocking a thread. One that is
  /// under way or has ended is not sent again: its answer is returned. ``NetworkOperation/again()`` makes another.
  ///
  /// Throws a `NetworkError`, or `CancellationError` when the task was cancelled, which cancels the operation.
  public func response(for operation: NetworkOperation) async throws -> NetworkResponse {
    let result: Result<NetworkResponse, NetworkError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        operation.onEnd { continuation.resume(returning: $0) }
        operation.enqueue()
      }
    } onCancel: {
      operation.cancel()
    }
    if case .failure(let error) = result, error.code == .cancelled { try Task.checkCancellation() }
    return try result.get()
  }

  /// Sends a request and reports everything that happens to it; the stream ends after the final event.
  /// Dropping the stream early cancels the operation.
  public func events(for request: NetworkRequest) -> AsyncStream<NetworkOperation.Event> {
    events(for: operation(request))
  }

  /// Enqueues an operation and reports everything that happens to it; the stream ends after the final event.
  /// Dropping the stream early cancels the operation.
  public func events(for operation: NetworkOperation) -> AsyncStream<NetworkOperation.Event> {
    AsyncStream { continuation in
      operation.onStateChange { continuation.yield(.state($0)) }
      operation.onUploadProgress { continuation.yield(.uploadProgress($0)) }
      operation.onDownloadProgress { continuation.yield(.downloadProgress($0)) }
      operation.onFinal { result in
        continuation.yield(.finished(result))
        continuation.finish()
      }
      continuation.onTermination = { _ in operation.cancel() }
      operation.enqueue()
    }
  }

  /// Blocks until the operation has ended; for scripts. It is enqueued if it was not. Traps when called from a
  /// delivery closure or the loop thread, which would wait for itself. A main thread that delivers (`.queue(.main)`) waits for
  /// itself, too, where the operation has handlers or the engine a hook for ends.
  @discardableResult
  public func wait(for operation: NetworkOperation) throws(NetworkError) -> NetworkResponse {
    guard !NetSpool.Delivery.isRunning else {
      fatalError(
        "NetSpool: wait(for:) was called from a closure of NetSpool, which would wait for itself; use onCompletion"
      )
    }
    let result = FirstAnswer.wait { told in
      operation.onEnd(resume: told)
      operation.enqueue()
    }
    return try result.get()
  }

  /// Blocks until the request has been answered; for scripts.
  public func wait(for request: NetworkRequest) throws(NetworkError) -> NetworkResponse {
    try wait(for: operation(request))
  }

  /// Ends every operation of this engine with `.cancelled`.
  public func cancelAll() { cancel { _ in true } }
  /// Ends every operation of this engine with this tag.
  public func cancel(tag: String) { cancel { $0.tag == tag } }

  /// Ends every operation of this engine that matches. The closure runs on the loop thread; of several, on each.
  public func cancel(where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    cancelAll(NetworkError(.cancelled), where: matches)
  }

  /// Stops accepting, lets what runs end until the deadline, ends the rest with `.engineClosed`; freezable
  /// requests stay frozen. Returns when all final events are delivered and the disk has what the cache was
  /// given, for which it waits
  /// 5 seconds at most.
  ///
  /// Never needed, and may be called again, from any thread. The queue and other engines go on.
  /// - Parameter deadline: 10 seconds unless told otherwise.
  public func shutDown(deadline: Duration = .seconds(10)) async {
    await withCheckedContinuation { continuation in shutDown(deadline: deadline) { continuation.resume() } }
  }

  /// The same for scripts: blocks, unless it is called from a closure of NetSpool, or on the main thread where that delivers: there
  /// it only begins.
  public func shutDownAndWait(deadline: Duration = .seconds(10)) {
    let done = DispatchSemaphore(value: 0)
    shutDown(deadline: deadline) { done.signal() }
    if !configuration.delivery.isHere { done.wait() }
  }
}
