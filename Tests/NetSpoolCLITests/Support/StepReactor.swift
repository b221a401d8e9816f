import Synchronization

@testable import NetSpoolCLI

/// A clock that jumps: a wait takes no time and calls the test's script, then moves to its deadline unless
/// it was woken.
final class StepReactor: Reactor {
  var now: Int64 = 0
  /// What happens while the job waits: the n-th wait, from 1.
  var duringWait: (Int) -> Void = { _ in }
  private(set) var waits = 0
  private let bell = Bell()

  func wait(input: Int32?, timeout: Int64?) {
    waits += 1
    precondition(waits < 5_000_000, "the job waits for ever")
    duringWait(waits)
    if !bell.isRung(), let timeout { now += timeout }
  }

  var wake: @Sendable () -> Void { { [bell] in bell.ring() } }
}

private final class Bell: Sendable {
  private let rung = Atomic(false)

  func ring() { rung.store(true, ordering: .relaxed) }

  /// Whether it rang since the last call.
  func isRung() -> Bool { rung.exchange(false, ordering: .relaxed) }
}
