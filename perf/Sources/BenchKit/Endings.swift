import Dispatch
import Synchronization

/// Counts how each of many operations ended, and finds those that ended twice.
package final class Endings: Sendable {
  package enum Kind: Sendable { case completed, cancelled, failed }

  private struct State {
    var hasEnded: [Bool]
    var left: Int
    var completed = 0
    var cancelled = 0
    var failed = 0
    var twice = 0
  }

  private let state: Mutex<State>
  private let done = DispatchSemaphore(value: 0)

  package init(count: Int) {
    state = Mutex(State(hasEnded: [Bool](repeating: false, count: count), left: count))
  }

  /// Operation number `index` has ended. Call from any thread.
  package func add(_ index: Int, _ kind: Kind) {
    let isLast = state.withLock { state in
      guard !state.hasEnded[index] else {
        state.twice += 1
        return false
      }
      state.hasEnded[index] = true
      switch kind {
      case .completed: state.completed += 1
      case .cancelled: state.cancelled += 1
      case .failed: state.failed += 1
      }
      state.left -= 1
      return state.left == 0
    }
    if isLast { done.signal() }
  }

  /// Blocks until each has ended once. The watchdog of the process is the bound.
  package func wait() { done.wait() }

  package func add(to report: inout Report) {
    state.withLock { state in
      report.add("completed", state.completed)
      report.add("cancelled", state.cancelled)
      report.add("failed", state.failed)
      report.add("twice", state.twice)
      report.add("errors", state.failed + state.twice + state.left)
    }
  }
}
