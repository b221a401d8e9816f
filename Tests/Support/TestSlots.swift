import Dispatch
@unsafe @preconcurrency import Glibc
import Synchronization
import Testing

/// How many tests with an engine run at once. Swift Testing starts all of them together, and on two cores a
/// limit of time would then measure the other tests; those that measure one take all slots.
enum TestSlots {
  /// Enough to keep two cores busy while some tests wait for a gate.
  static let count = 6

  private struct Waiter: Sendable {
    let slots: Int
    let resume: CheckedContinuation<Void, Never>
  }

  private struct State: Sendable {
    var free = TestSlots.count
    var waiters: [Waiter] = []
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
    let slots = alone ? count : 1
    await enter(slots)
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
      leave(slots)
    }
    return try await $isInside.withValue(true, operation: body)
  }

  /// Of a run that is ended from outside, the last lines say what it was at: they must not wait in a buffer.
  private static let isPrintedAtOnce = unsafe setvbuf(stdout, nil, _IOLBF, 0) == 0

  private static let watchers = DispatchQueue(label: "test slots")

  private static func enter(_ slots: Int) async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.waiters.isEmpty, state.free >= slots else {
          state.waiters.append(Waiter(slots: slots, resume: continuation))
          return false
        }
        state.free -= slots
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private static func leave(_ slots: Int) {
    let ready = state.withLock { state in
      state.free += slots
      var ready: [Waiter] = []
      while let first = state.waiters.first, first.slots <= state.free {
        state.free -= first.slots
        ready.append(state.waiters.removeFirst())
      }
      return ready
    }
    for waiter in ready { waiter.resume.resume() }
  }
}
