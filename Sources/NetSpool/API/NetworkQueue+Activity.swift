internal import Dispatch
internal import Synchronization

extension NetworkQueue {
  /// What the queue is doing; cheap enough to ask a thousand times a second.
  public struct Activity: Sendable, Hashable {
    /// Operations that wait.
    public let queued: Int
    /// Exchanges under way.
    public let running: Int
    /// Operations kept on disk until they can be sent.
    public let frozen: Int
    /// Body bytes received since the start.
    public let bytesIn: Int64
    /// Body bytes sent since the start.
    public let bytesOut: Int64

    /// Something waits or runs.
    public var isBusy: Bool { queued + running > 0 }
  }

  /// What the queue is doing now.
  public var activity: Activity { driver.activity }

  /// Calls back when the number of waiting or running operations has changed, at most once per turn of the loop,
  /// on a serial queue of its own. For a network activity indicator.
  public func onActivityChange(_ handler: @escaping @Sendable (Activity) -> Void) {
    driver.observe(activity: handler)
  }

  /// Calls back each time the last operation has ended and its closures have run.
  public func onIdle(_ handler: @escaping @Sendable () -> Void) { driver.observe(idle: handler) }

  /// Waits until the queue is idle or the deadline has passed; true if it is idle.
  /// - Parameter deadline: 10 seconds unless told otherwise.
  @discardableResult
  public func drain(deadline: Duration = .seconds(10)) async -> Bool {
    await withCheckedContinuation { continuation in
      driver.drain(deadline: deadline) { continuation.resume(returning: $0) }
    }
  }

  /// The same for scripts: blocks. Traps when called from a closure of NetSpool, which would wait for itself.
  @discardableResult
  public func drainAndWait(deadline: Duration = .seconds(10)) -> Bool {
    guard !Delivery.isRunning else {
      fatalError("NetSpool: drainAndWait was called from a closure of NetSpool, which would wait for itself")
    }
    let done = DispatchSemaphore(value: 0)
    let isIdle = Mutex(false)
    driver.drain(deadline: deadline) { result in
      isIdle.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return isIdle.withLock { $0 }
  }
}
