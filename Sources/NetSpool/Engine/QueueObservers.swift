internal import Dispatch
internal import Synchronization

/// The closures that hear what the whole queue does, each on a serial queue of its own: one that blocks holds up no other.
final class QueueObservers: Sendable {
  private struct State: Sendable {
    var activity: [Observer<NetworkQueue.Activity>] = []
    var idle: [Observer<Void>] = []
    /// Called once, at the next idle moment.
    var idleOnce: [@Sendable () -> Void] = []
    var last: NetworkQueue.Activity?
  }

  /// An observer that falls behind by more hears of the newest instead: what a slow one has not heard takes no memory.
  static let undeliveredMax = 64

  private let state = Mutex(State())
  /// The loop asks before it counts.
  let wantsActivity = Atomic(false)

  func add(activity: @escaping @Sendable (NetworkQueue.Activity) -> Void) {
    state.withLock { $0.activity.append(Observer(activity)) }
    wantsActivity.store(true, ordering: .releasing)
  }

  func add(idle: @escaping @Sendable () -> Void) { state.withLock { $0.idle.append(Observer(idle)) } }
  func add(idleOnce: @escaping @Sendable () -> Void) { state.withLock { $0.idleOnce.append(idleOnce) } }

  /// Tells how busy it is where that has changed. Looked up under the lock: of several loops the last to tell knows of all.
  func tell(_ look: () -> NetworkQueue.Activity) {
    state.withLock { state in
      let activity = look()
      guard activity.queued != state.last?.queued || activity.running != state.last?.running else { return }
      state.last = activity
      for observer in state.activity { observer.tell(activity) }
    }
  }

  func tellIdle() {
    let (observers, once) = state.withLock { state in
      defer { state.idleOnce = [] }
      return (state.idle, state.idleOnce)
    }
    for body in once { body() }
    for observer in observers { observer.tell(()) }
  }
}

/// A closure, and what it has still to be told.
private final class Observer<Event: Sendable>: Sendable {
  private let body: @Sendable (Event) -> Void
  private let undelivered = Mutex<[Event]>([])
  private let queue = DispatchQueue(label: "netspool.observer")

  init(_ body: @escaping @Sendable (Event) -> Void) { self.body = body }

  func tell(_ event: Event) {
    let isFirst = undelivered.withLock { undelivered in
      if undelivered.count == QueueObservers.undeliveredMax { undelivered.removeLast() }
      undelivered.append(event)
      return undelivered.count == 1
    }
    if isFirst { queue.async { [self] in tellNext() } }
  }

  private func tellNext() {
    guard let next = undelivered.withLock({ $0.first }) else { return }
    Delivery.run { body(next) }
    // It goes only now: while it is there, nobody else begins to tell.
    let isLast = undelivered.withLock { undelivered in
      undelivered.removeFirst()
      return undelivered.isEmpty
    }
    if !isLast { queue.async { [self] in tellNext() } }
  }
}
