import Synchronization

@testable import NetSpool

/// What an engine told about its origin, in order; a test awaits the next.
final class ReachabilityLog: Sendable {
  private struct State {
    var told: [NetworkEngine.Reachability] = []
    var waiters: [(wanted: NetworkEngine.Reachability, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  init(of engine: NetworkEngine) { engine.onReachabilityChange { [weak self] in self?.add($0) } }

  private func add(_ reachability: NetworkEngine.Reachability) {
    let ready = state.withLock { state in
      state.told.append(reachability)
      let ready = state.waiters.filter { $0.wanted == reachability }
      state.waiters.removeAll { $0.wanted == reachability }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  var told: [NetworkEngine.Reachability] { state.withLock { $0.told } }

  /// Waits until this is what was told last.
  func becomes(_ wanted: NetworkEngine.Reachability) async {
    await withCheckedContinuation { continuation in
      let isSo = state.withLock { state in
        if state.told.last == wanted { return true }
        state.waiters.append((wanted, continuation))
        return false
      }
      if isSo { continuation.resume() }
    }
  }
}

extension NetworkEngine {
  /// What is known once the loop has looked.
  func settledReachability() async -> NetworkEngine.Reachability {
    _ = reachability
    // Behind the command that began to watch.
    await withCheckedContinuation { continuation in driver.perform { _ in continuation.resume() } }
    return reachability
  }
}
