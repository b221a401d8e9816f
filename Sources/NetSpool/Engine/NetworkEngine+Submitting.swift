internal import Synchronization

/// What an engine does for each of its operations, and its end.
extension NetworkEngine {
  var usesProxy: Bool { handleSettings.plainProxy != nil || handleSettings.secureProxy != nil }

  func prepare(_ request: inout NetworkRequest) throws(NetworkError) {
    guard let prepare = configuration.prepare else { return }
    do {
      try prepare(&request)
    } catch let failure as NetworkError {
      throw failure
    } catch {
      throw NetworkError(.invalidRequest, reason: "prepare threw \(error)")
    }
  }

  /// Any thread. Accepts the operation or answers why not.
  func submit(_ operation: NetworkOperation) -> NetworkError? {
    if isClosed.load(ordering: .acquiring) { return NetworkError(.engineClosed) }
    return driver.submit(operation, limit: configuration.limits.operationsQueuedMax)
  }

  /// An answer of 400 to 599 is an error with the answer inside, unless `validate` says otherwise, or it is known to be
  /// a success.
  func judge(_ outcome: NetworkOperation.Outcome, isSuccess: Bool = false) -> NetworkOperation.Outcome {
    guard case .success(let response) = outcome else { return outcome }
    if let validate = configuration.validate {
      guard var failure = Self.objection(of: validate, to: response) else { return outcome }
      failure.response = failure.response ?? response
      return .failure(failure)
    }
    guard response.head.status >= 400, !isSuccess else { return outcome }
    return .failure(NetworkError(status: response))
  }

  private static func objection(
    of validate: @Sendable (NetworkResponse) throws -> Void, to response: NetworkResponse
  ) -> NetworkError? {
    do {
      try validate(response)
      return nil
    } catch let failure as NetworkError {
      return failure
    } catch {
      var failure = NetworkError(status: response)
      failure.reason = "validate threw \(error)"
      return failure
    }
  }

  /// Any thread: accepts nothing more, lets what runs end until the deadline, ends the rest. `done` comes behind the last
  /// final event.
  func shutDown(deadline: Duration, done: @escaping @Sendable () -> Void) {
    isClosed.store(true, ordering: .releasing)
    // Nothing runs, but what ended without the loop may be on its way to its closures.
    guard driver.isStarted else { return deliverLate(done) }
    if !driver.perform({ [self] core in core.shutDown(self, deadline: deadline, done: done) }) { done() }
  }
}

extension NetworkError {
  /// The origin answered, with a status that says no.
  init(status response: NetworkResponse) {
    self.init(
      .status, reason: "\(response.head.status)", underlying: .http(response.head.status),
      sendState: .answered)
    attempts = response.metrics.attempts
    self.response = response
    url = Redaction.standard.url(response.finalURL)
  }
}
