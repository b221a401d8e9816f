import Dispatch
@unsafe @preconcurrency import Glibc
import Synchronization
import Testing

/// How many tests with an engine run at once. Swift Testing starts all of them together, and on two cores a
/// limit of time would then measure the other tests; those that measure one take all slots.
enum TestSlots {
  /// Enough to keep two cores busy while some tests wait for a gate.
  static let count = 8

  private struct State: Sendable {
    var free = TestSlots.count
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// They go when no other waits: all slots would be kept empty for each of them.
    var loners: [CheckedContinuation<Void, Never>] = []

    /// Takes those whose turn it is.
    mutating func next() -> [CheckedContinuation<Void, Never>] {
      let ready = Array(waiters.prefix(free))
      waiters.removeFirst(ready.count)
      free -= ready.count
      guard free == TestSlots.count, !loners.isEmpty else { return ready }
      free = 0
      return [loners.removeFirst()]
    }
  }

  private static let state = Mutex(State())
  /// Engines inside engines share the slot of the outer one.
  @TaskLocal private static var isInside = false

  /// Runs a body in one slot, or alone.
  ///
  /// - Parameter state: what is said of a body that never ends, before the run ends with its name: all others
  ///   would wait for its slot, and nobody would learn for which.
  static func run<Result>(
    alone: Bool = false, state: @escaping @Sendable () -> String = { "" },
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    if isInside { return try await body() }
    _ = isPrintedAtOnce
    await enter(alone: alone)
    let name = Test.current.map { "\($0.id)" } ?? "a test"
    let watch = LongRun.isOn ? nil : DispatchSource.makeTimerSource(queue: watchers)
    watch?.setEventHandler {
      fatalError("\(name) recorded an issue: it does not end. \(state())")
    }
    // A busy machine takes long for the longest of them.
    watch?.schedule(deadline: .now() + 600)
    watch?.activate()
    defer {
      watch?.cancel()
      leave(alone: alone)
    }
    return try await $isInside.withValue(true, operation: body)
  }

  /// Of a run that is ended from outside, the last lines say what it was at: they must not wait in a buffer.
  private static let isPrintedAtOnce = unsafe setvbuf(stdout, nil, _IOLBF, 0) == 0

  private static let watchers = DispatchQueue(label: "test slots")

  private static func enter(alone: Bool) async {
    await withCheckedContinuation { continuation in
      resume { state in
        if alone { state.loners.append(continuation) } else { state.waiters.append(continuation) }
      }
    }
  }

  private static func leave(alone: Bool) {
    resume { $0.free += alone ? count : 1 }
  }

  private static func resume(_ change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      return state.next()
    }
    for continuation in ready { continuation.resume() }
  }
}
