import Synchronization

/// Time that stands still until a test moves it, for whatever an answer of a ``ScriptedOrigin`` waits for: its delay, its
/// pace, its pauses.
/// ```swift
/// let clock = ManualClock()
/// let origin = try ScriptedOrigin(clock: clock)
/// origin.on("/late", .text("at last").delay(.seconds(3600)))
/// // ... send a request to origin.url("/late") ...
/// await origin.waitForWaiting(ManualClock.gate, 1)
/// clock.advance(by: .seconds(3600))
/// ```
/// The client's own limits of time are not moved. Any thread; several origins may have one clock.
public final class ManualClock: Sendable {
  /// The gate at which answers wait for a time, as `waitForWaiting` counts them.
  public static let gate = "the clock"

  private struct State {
    var now = ContinuousClock.now
    var wakers: [Listed] = []
  }

  /// A clock may be that of a whole suite, and outlives its origins.
  private struct Listed {
    weak var waker: Waker?
  }

  private let state = Mutex(State())

  /// A clock that stands still.
  public init() {}

  var now: ContinuousClock.Instant { state.withLock(\.now) }

  func add(_ waker: Waker) {
    state.withLock { state in
      state.wakers.removeAll { $0.waker == nil }
      state.wakers.append(Listed(waker: waker))
    }
  }

  /// Moves it on. What was to be sent by then is sent at once, in its order.
  public func advance(by time: Duration) {
    let wakers = state.withLock { state in
      state.now += max(time, .zero)
      return state.wakers.compactMap { $0.waker }
    }
    for waker in wakers { waker.wake() }
  }
}
