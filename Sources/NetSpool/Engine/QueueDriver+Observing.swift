internal import Dispatch
internal import Glibc
internal import Synchronization

/// Watching the queue as a whole, changing its settings, and letting it go.
extension QueueDriver {
  var activity: NetworkQueue.Activity {
    let running = running.load(ordering: .relaxed)
    return NetworkQueue.Activity(
      queued: max(
        0,
        pending.load(ordering: .relaxed) - undelivered.load(ordering: .relaxed)
          - held.load(ordering: .relaxed) - running),
      running: running, frozen: frozen.load(ordering: .relaxed), bytesIn: bytesIn.load(ordering: .relaxed),
      bytesOut: bytesOut.load(ordering: .relaxed)
    )
  }

  func observe(activity: @escaping @Sendable (NetworkQueue.Activity) -> Void) {
    observers.add(activity: activity)
  }
  func observe(idle: @escaping @Sendable () -> Void) { observers.add(idle: idle) }

  func apply(_ new: NetworkQueue.Configuration) {
    settings.withLock { $0 = new }
    // A loop that has not started reads them when it does.
    if isStarted { perform { core in core.apply(new) } }
  }

  /// Calls back once: with true when nothing is pending, with false when the deadline has passed before.
  func drain(deadline: Duration, done: @escaping @Sendable (Bool) -> Void) {
    if isOfParent { return done(false) }
    let isTold = Once()
    let tell: @Sendable (Bool) -> Void = { isIdle in if isTold.first() { done(isIdle) } }
    observers.add(idleOnce: { tell(true) })
    if pending.load(ordering: .acquiring) == 0 { return tell(true) }
    DispatchQueue.global().asyncAfter(deadline: .now() + deadline.seconds) { tell(false) }
  }

  /// The last reference is gone and nothing is under way: the loop thread ends by itself.
  func abandon() {
    guard isStarted, !isOfParent else { return }
    detach()  // first: a thread that has ended can no longer be let go
    mailbox.send(.perform { $0.close() })
  }
}
