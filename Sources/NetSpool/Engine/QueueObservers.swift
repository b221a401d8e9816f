internal import Dispatch
internal import Synchronization

/// Who wants to hear what the whole queue does. Closures run on a serial queue of their own.
final class QueueObservers: Sendable {
  private struct State: Sendable {
    var activity: [@Sendable (NetworkQueue.Activity) -> Void] = []
    var idle: [@Sendable () -> Void] = []
    /// Called once, at the next idle moment.
    var idleOnce: [@Sendable () -> Void] = []
  }

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

  func tell(_ activity: NetworkQueue.Activity) {
    let observers = state.withLock { $0.activity }
    queue.async { Delivery.run(observers) { $0(activity) } }
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
