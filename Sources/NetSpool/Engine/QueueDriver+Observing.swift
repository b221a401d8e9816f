internal import Dispatch
internal import Glibc
internal import Synchronization

/// Watching the queue as a whole, changing its settings, and letting it go.
extension QueueDriver {
  var activity: QueueActivity {
    let running = running.load(ordering: .relaxed)
    return QueueActivity(
      queued: max(
        0,
        pending.load(ordering: .relaxed) - undelivered.load(ordering: .relaxed)
          - held.load(ordering: .relaxed) - running),
      running: running, frozen: frozen.load(ordering: .relaxed), bytesIn: bytesIn.load(ordering: .relaxed),
      bytesOut: bytesOut.load(ordering: .relaxed)
    )
  }

  func observe(activity: @escaping @Sendable (QueueActivity) -> Void) {
    observers.add(activity: activity)
  }
  func observe(idle: @escaping @Sendable () -> Void) { observers.add(idle: idle) }

  func apply(_ new: QueueSettings) {
    settings.withLock { $0 = new }
    // A loop that has not started reads them when it does.
    if isStarted { perform { core in core.apply(new) } }
  }

  /// Blocks until nothing is pending or the deadline has passed.
  func drain(seconds: Double) -> Bool {
    let idle = DispatchSemaphore(value: 0)
    observers.add(idleOnce: { idle.signal() })
    if pending.load(ordering: .acquiring) == 0 { return true }
    return idle.wait(timeout: .now() + seconds) == .success
  }

  /// The last reference is gone and nothing is under way: the loop thread ends by itself.
  func abandon() {
    guard isStarted else { return }
    detach()  // first: a thread that has ended can no longer be let go
    mailbox.send(.perform { $0.close() })
  }
}
