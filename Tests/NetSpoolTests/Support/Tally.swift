import Synchronization

@testable import NetSpool

/// Counts the final events of many operations, each on its own, and says when they are all in.
final class Tally: Sendable {
  private struct State {
    var endings: [UInt64: Int] = [:]
    var codes: [String: Int] = [:]
    var ended = 0
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Counts this one's endings from now on.
  func watch(_ operation: NetworkOperation) {
    let id = operation.id
    operation.onCompletion { [self] _ in add(id, "completed") }
    operation.onError { [self] error in add(id, error.code.description) }
  }

  /// The same, and enqueues it.
  func start(_ operation: NetworkOperation) {
    watch(operation)
    operation.engine.enqueue(operation)
  }

  private func add(_ id: UInt64, _ code: String) {
    let ready = state.withLock { state in
      state.endings[id, default: 0] += 1
      state.codes[code, default: 0] += 1
      state.ended += 1
      let ready = state.waiters.filter { $0.count <= state.ended }
      state.waiters.removeAll { $0.count <= state.ended }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until so many final events have come.
  func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isIn = state.withLock { state in
        if state.ended >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isIn { continuation.resume() }
    }
  }

  /// Final events in all.
  var ended: Int { state.withLock { $0.ended } }
  /// How many ended with `completed` or this error code.
  func count(_ code: String) -> Int { state.withLock { $0.codes[code, default: 0] } }
  /// Every operation that had any final event had one.
  var isOneEach: Bool { state.withLock { state in state.endings.values.allSatisfy { $0 == 1 } } }
}
