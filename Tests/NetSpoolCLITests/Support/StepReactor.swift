@testable import NetSpoolCLI

/// A clock that jumps: a wait takes no time and calls the test's script, then moves to its deadline.
final class StepReactor: Reactor {
  var now: Int64 = 0
  /// What happens while the job waits: the n-th wait, from 1. Moves the clock by nothing if it returns false.
  var duringWait: (Int) -> Bool = { _ in true }
  private(set) var waits = 0

  func wait(input: Int32?, timeout: Int64?) {
    waits += 1
    precondition(waits < 5_000_000, "the job waits for ever")
    if duringWait(waits), let timeout { now += timeout }
  }

  var wake: @Sendable () -> Void { {} }
}
