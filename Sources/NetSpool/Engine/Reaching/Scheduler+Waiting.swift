/// Requests that wait for their origin (`NetworkRequest.waitsForOrigin`): one that has not got through goes back into the
/// queue when there is use in sending.
extension Scheduler {
  /// True when it waits from now on: its transfer is given back, and it will be called.
  func awaitOrigin(_ operation: NetworkOperation, _ transfer: Transfer, _ failure: NetworkError) -> Bool {
    let request = operation.request
    guard request.waitsForOrigin, failure.isOffline, operation.loop.extras?.sinkFailure == nil,
      mayRepeat(request, failure)
    else { return false }
    let limits = request.timeouts ?? operation.engine.configuration.timeouts
    let left = limits.queueDeadline.map { deadline in
      deadline - .microseconds(MonotonicClock.now - operation.loop.submittedAt)
    }
    if let left, left <= .zero { return false }
    let url = operation.loop.history?.target.url ?? request.url
    let wake = awaitSending(to: url, for: operation.engine, after: failure) { [unowned self] in
      self.wait(operation, request.priority, atFront: true)
    }
    guard let wake else { return false }
    operation.loop.transfer = nil
    recycle(transfer, operation)
    if let left { startQueueDeadline(operation, left) }
    move(operation, to: .awaiting(wake))
    return true
  }

  private func mayRepeat(_ request: NetworkRequest, _ failure: NetworkError) -> Bool {
    guard request.prepared.canReplay else { return false }
    return failure.isRetrySafe || request.method.isIdempotent || request.idempotencyKey != nil
  }
}
