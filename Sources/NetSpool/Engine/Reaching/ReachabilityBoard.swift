internal import Synchronization

/// Where the loop writes how an engine's origin is and any thread reads it, and who hears of changes.
///
/// Changes that come faster than they are told are told as one; a change that was undone meanwhile, not at all.
final class ReachabilityBoard: Sendable {
  typealias Handler = @Sendable (NetworkEngine.Reachability) -> Void

  private struct State: Sendable {
    var current: NetworkEngine.Reachability?
    var delivered: NetworkEngine.Reachability?
    var handlers: [Handler] = []
    /// A delivery is on its way to the target, or there.
    var isBeingDelivered = false
  }

  private let state = Mutex(State())
  /// For the first caller, which must have the loop watch.
  let watching = Once()

  /// Nil until the loop has looked.
  var current: NetworkEngine.Reachability? { state.withLock { $0.current } }

  /// The first handler's changes count from what is known by then.
  func add(_ handler: @escaping Handler) {
    state.withLock { state in
      if state.handlers.isEmpty { state.delivered = state.current }
      state.handlers.append(handler)
    }
  }

  /// The loop: true when `tell` must be called on the delivery target.
  func note(_ new: NetworkEngine.Reachability) -> Bool {
    state.withLock { state in
      state.current = new
      if state.delivered == nil { state.delivered = new }
      guard new != state.delivered, !state.handlers.isEmpty, !state.isBeingDelivered else { return false }
      state.isBeingDelivered = true
      return true
    }
  }

  /// The delivery target. True when there is more to tell, after others have had their turn.
  func tell() -> Bool {
    let (news, handlers) = state.withLock { state in
      let isNews = state.current != state.delivered
      state.delivered = state.current
      return (isNews ? state.current : nil, state.handlers)
    }
    if let news { for handler in handlers { handler(news) } }
    return state.withLock { state in
      state.isBeingDelivered = state.current != state.delivered
      return state.isBeingDelivered
    }
  }
}

extension NetworkEngine {
  /// The first call has the loop watch.
  func watchReachability() {
    guard reachabilityBoard.watching.first() else { return }
    // Weak: asking must not keep the engine, and with it the queue, alive on the queue's own thread.
    homePort.perform { [weak self] core in
      if let self { core.connectivity.add(self) }
    }
  }

  /// The loop.
  func note(_ reachability: NetworkEngine.Reachability) {
    if reachabilityBoard.note(reachability) { deliverReachability() }
  }

  private func deliverReachability() {
    deliverLate { [self] in
      if reachabilityBoard.tell() { deliverReachability() }
    }
  }
}
