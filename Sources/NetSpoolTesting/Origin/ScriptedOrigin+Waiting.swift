import Dispatch
import Synchronization

/// Waiting for what clients do. All of these answer true as soon as it has happened, also when that was before the
/// call, and false when the time is over or the task is cancelled. The time guards against a test that hangs; it
/// is not part of what is tested.
extension ScriptedOrigin {
  /// Waits until this many requests were read.
  @discardableResult
  public func waitForRequests(_ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
    await wait(.requests(count), limit)
  }

  /// Waits until this path was asked for so often.
  @discardableResult
  public func waitForHits(_ path: String, _ count: Int, within limit: Duration = .seconds(30)) async -> Bool {
    await wait(.hits(path, count), limit)
  }

  /// Waits until so many requests wait at this path or gate.
  @discardableResult
  public func waitForWaiting(_ gate: String, _ count: Int, within limit: Duration = .seconds(30)) async
    -> Bool
  {
    await wait(.waitingAt(gate, count), limit)
  }

  /// Waits until exactly this many connections are open.
  @discardableResult
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
    let added = Mutex<Int?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard let id = state.addWaiter(condition, resume: { continuation.resume(returning: $0) }) else {
          return continuation.resume(returning: true)
        }
        added.withLock { $0 = id }
        if Task.isCancelled { state.expireWaiter(id) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak state] in
          state?.expireWaiter(id)
        }
      }
    } onCancel: {
      if let id = added.withLock({ $0 }) { state.expireWaiter(id) }
    }
  }
}

/// The same for code that is not asynchronous: these block the calling thread. They have names of their own, since at the
/// top level of a program Swift would take them for the others.
extension ScriptedOrigin {
  /// Blocks until this many requests were read.
  @available(*, noasync, message: "await waitForRequests")
  @discardableResult
  public func blockForRequests(_ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.requests(count), limit)
  }

  /// Blocks until this path was asked for so often.
  @available(*, noasync, message: "await waitForHits")
  @discardableResult
  public func blockForHits(_ path: String, _ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.hits(path, count), limit)
  }

  /// Blocks until so many requests wait at this path or gate.
  @available(*, noasync, message: "await waitForWaiting")
  @discardableResult
  public func blockForWaiting(_ gate: String, _ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.waitingAt(gate, count), limit)
  }

  /// Blocks until exactly this many connections are open.
  @available(*, noasync, message: "await waitForOpenConnections")
  @discardableResult
  public func blockForOpenConnections(_ count: Int, within limit: Duration = .seconds(30)) -> Bool {
    block(.openConnections(count), limit)
  }

  /// The next request that was not taken yet, blocking for it if need be; nil when the time is over.
  @available(*, noasync, message: "await takeRequest")
  public func blockForRequest(within limit: Duration = .seconds(30)) -> RecordedRequest? {
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

extension Duration {
  /// For Dispatch, in nanoseconds; at most a day, at least none.
  var dispatchInterval: DispatchTimeInterval {
    let bounded = min(max(self, .zero), .seconds(86_400))
    return .nanoseconds(Int(bounded / .nanoseconds(1)))
  }
}

/// Gates: a test keeps a request waiting for as long as it needs, and needs no sleep.
extension ScriptedOrigin {
  /// Keeps requests to this path waiting, from now on, once they are read and recorded. Their answer is chosen
  /// when they are let go.
  public func hold(_ path: String) { state.changeGates { $0.hold(path) } }

  /// Opens a gate: lets those go that wait at this path, or at ``FaultAction/gate(_:)`` of this name, and stops
  /// none any more.
  public func release(_ name: String) { state.changeGates { $0.release(name) } }

  /// Lets `count` pass and keeps the gate closed for the others. Those that have not come yet count as well.
  public func release(_ name: String, count: Int) { state.changeGates { $0.release(name, count: count) } }

  /// Opens every gate that is held or waited at, and ends every stall.
  public func releaseAll() { state.changeGates { $0.releaseAll() } }

  /// The number of requests that wait at this path or gate.
  public func waitingCount(_ name: String) -> Int { state.waiting(at: name) }
}

/// The requests and connections that it received.
extension ScriptedOrigin {
  /// The requests in the order in which they were read, up to ``OriginLimits/keptRequestsMax`` of the latest.
  public var requests: [RecordedRequest] { state.readLog(\.requests) }

  /// The requests that had this path, whatever their query.
  public func requests(for path: String) -> [RecordedRequest] { requests.filter { $0.path == path } }

  /// The number of requests that were read, kept or not.
  public var requestCount: Int { state.readLog(\.requestCount) }

  /// The number of requests that had this path, whatever their query.
  public func hits(_ path: String) -> Int { state.readLog { $0.hits[path, default: 0] } }

  /// Every path that was asked for, and how often.
  public var hits: [String: Int] { state.readLog(\.hits) }

  /// The number of connections that were accepted.
  public var connectionCount: Int { state.readLog(\.connectionCount) }

  /// The number of connections that are open. One that the origin has closed counts until the client has
  /// closed it too, or ``OriginLimits/lingerTime`` is over.
  public var openConnections: Int { state.readLog(\.openConnections) }

  /// The number of requests that were not HTTP/1.1 as RFC 9112 wants it of a client, or were cut off.
  public var rejectedCount: Int { state.readLog(\.rejectedCount) }

  /// Why they were rejected; the first hundred of them. They are not among ``requests``.
  public var rejectedRequests: [String] { state.readLog(\.rejected) }

  /// Forgets the requests and all counts but ``openConnections``.
  public func forgetRequests() { state.changeLog { $0.forget() } }
}
