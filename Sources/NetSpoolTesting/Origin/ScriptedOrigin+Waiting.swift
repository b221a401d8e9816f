import Dispatch

/// Waiting for what clients do. All of these answer true as soon as it has happened, also when that was before the
/// call, and false when the time is over or the task is cancelled. The time guards against a test that hangs; it
/// is not part of what is tested.
extension ScriptedOrigin {
  /// Waits until this many requests were read.
  public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
    await wait(.requests(count), limit)
  }

  /// Waits until this path was asked for so often.
  public func waitForHits(_ path: String, _ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
    await wait(.hits(path, count), limit)
  }

  /// Waits until so many requests wait at this path or gate.
  public func waitForWaiting(_ gate: String, _ count: Int, within limit: Duration = .seconds(30)) async
    -> Bool
  {
    await wait(.waitingAt(gate, count), limit)
  }

  /// Waits until exactly this many connections are open.
  public func waitForOpenConnections(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
    await wait(.openConnections(count), limit)
  }

  /// The next request that was not taken yet, waiting for it if need be; nil when the time is over.
  public func takeRequest(within limit: Duration = .seconds(30)) async -> RecordedRequest? {
    let end = ContinuousClock.now + limit
    while true {
      if let request = state.takeRequest() { return request }
      guard await wait(.untakenRequest, end - .now) else { return nil }
    }
  }

  private func wait(_ condition: WaitCondition, _ limit: Duration) async -> Bool {
    let ticket = WaitTicket()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard let id = state.addWaiter(condition, resume: { continuation.resume(returning: $0) }) else {
          return continuation.resume(returning: true)
        }
        if ticket.set(id) { state.expireWaiter(id) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak state] in
          state?.expireWaiter(id)
        }
      }
    } onCancel: {
      if let id = ticket.cancel() { state.expireWaiter(id) }
    }
  }
}

/// The same for code that is not asynchronous: these block the calling thread.
extension ScriptedOrigin {
  /// Blocks until this many requests were read.
  @available(*, noasync, message: "await the asynchronous waitForRequests")
  public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.requests(count), limit)
  }

  /// Blocks until this path was asked for so often.
  @available(*, noasync, message: "await the asynchronous waitForHits")
  public func waitForHits(_ path: String, _ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.hits(path, count), limit)
  }

  /// Blocks until so many requests wait at this path or gate.
  @available(*, noasync, message: "await the asynchronous waitForWaiting")
  public func waitForWaiting(_ gate: String, _ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.waitingAt(gate, count), limit)
  }

  /// Blocks until exactly this many connections are open.
  @available(*, noasync, message: "await the asynchronous waitForOpenConnections")
  public func waitForOpenConnections(_ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.openConnections(count), limit)
  }

  /// The next request that was not taken yet, blocking for it if need be; nil when the time is over.
  @available(*, noasync, message: "await the asynchronous takeRequest")
  public func takeRequest(within limit: Duration = .seconds(30)) -> RecordedRequest? {
    let end = ContinuousClock.now + limit
    while true {
      if let request = state.takeRequest() { return request }
      guard block(.untakenRequest, end - .now) else { return nil }
    }
  }

  private func block(_ condition: WaitCondition, _ limit: Duration) -> Bool {
    let done = DispatchSemaphore(value: 0)
    guard let id = state.addWaiter(condition, resume: { _ in done.signal() }) else { return true }
    if done.wait(timeout: .now() + limit.dispatchInterval) == .success { return true }
    return !state.expireWaiter(id)
  }
}
