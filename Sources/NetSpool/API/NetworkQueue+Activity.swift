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

    init(_ core: QueueActivity) {
      queued = core.queued
      running = core.running
      frozen = core.frozen
      bytesIn = core.bytesIn
      bytesOut = core.bytesOut
    }
  }

  /// What the queue is doing now.
  public var activity: Activity { Activity(driver.activity) }

  /// Calls back when the number of waiting or running operations has changed, at most once per turn of the loop,
  /// on a serial queue of its own. For a network activity indicator.
  public func onActivityChange(_ handler: @escaping @Sendable (Activity) -> Void) {
    driver.observe(activity: { handler(Activity($0)) })
  }

  /// Calls back each time the last operation has ended and its closures have run.
  public func onIdle(_ handler: @escaping @Sendable () -> Void) { driver.observe(idle: handler) }

  /// Blocks until the queue is idle or the deadline has passed; true if it is idle. Traps when called from a
  /// closure of NetSpool, which would wait for itself.
  /// - Parameter seconds: 10 unless told otherwise.
  @discardableResult
  public func drain(deadline seconds: Double = 10) -> Bool {
    precondition(
      !Delivery.isRunning,
      "NetSpool: drain was called from a closure of NetSpool, which would wait for itself")
    return driver.drain(seconds: seconds)
  }
}
