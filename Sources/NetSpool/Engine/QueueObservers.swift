internal import Dispatch
internal import Synchronization

/// The closures that hear what the whole queue does. Closures run on a serial queue of their own.
final class QueueObservers: Sendable {
  private struct State: Sendable {
    var activity: [@Sendable (NetworkQueue.Activity) -> Void] = []
    var idle: [@Sendable () -> Void] = []
    /// Called once, at the next idle moment.
    var idleOnce: [@Sendable () -> Void] = []
    var last: NetworkQueue.Activity?
    /// What the observers have still to be told.
    var undelivered: [NetworkQueue.Activity] = []
  }

  /// An observer that falls behind by more hears of the newest instead: what a slow one has not heard takes no memory.
  static let undeliveredMax = 64

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "netspool.observers")
  /// The loop asks before it counts.
  let wantsActivity = Atomic(false)

  func add(activity: @escaping @Sendable (NetworkQueue.Activity) -> Void) {
    state.withLock { $0.activity.append(activity) }
    wantsActivity.store(true, ordering: .releasing)
  }

  func add(idle: @escaping @Sendable () -> Void) { state.withLock { $0.idle.append(idle) } }
  func add(idleOnce: @escaping @Sendable () -> Void) { state.withLock { $0.idleOnce.append(idleOnce) } }

  /// Tells how busy it is where that has changed. Looked up under the lock: of several loops the last to tell knows of all.
  func tell(_ look: () -> NetworkQueue.Activity) {
    let isFirst = state.withLock { state in
      let activity = look()
      let isOther = activity.queued != state.last?.queued || activity.running != state.last?.running
      guard isOther else { return false }
      state.last = activity
      if state.undelivered.count == Self.undeliveredMax { state.undelivered.removeLast() }
      state.undelivered.append(activity)
      return state.undelivered.count == 1
    }
    if isFirst { queue.async { [self] in tellNext() } }
  }

  private func tellNext() {
    let (next, observers) = state.withLock { ($0.undelivered.first, $0.activity) }
    guard let next else { return }
    Delivery.run(observers) { $0(next) }
    // It goes only now: while it is there, nobody else begins to tell.
    let isLast = state.withLock { state in
      state.undelivered.removeFirst()
      return state.undelivered.isEmpty
    }
    if !isLast { queue.async { [self] in tellNext() } }
  }

  func tellIdle() {
    let (observers, once) = state.withLock { state in
      defer { state.idleOnce = [] }
      return (state.idle, state.idleOnce)
    }
    for body in once { body() }
    guard !observers.isEmpty else { return }
    queue.async { Delivery.run(observers) { $0() } }
  }
}
