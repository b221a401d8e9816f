@testable import NetSpoolCLI
@testable import TestSupport

/// A clock that jumps: a wait takes no time and calls the test's script, then moves to its deadline unless
/// it was woken.
final class StepReactor: Reactor {
  var now: Int64 = 0
  /// What happens while the job waits: the n-th wait, from 1.
  var duringWait: (Int) -> Void = { _ in }
  private(set) var waits = 0
  private let rings = Counter()
  private var heard = 0

  func wait(input: Int32?, timeout: Int64?) {
    waits += 1
    precondition(waits < 5_000_000, "the job waits for ever")
    duringWait(waits)
    let rung = rings.value
    if rung == heard, let timeout { now += timeout }
    heard = rung
  }

  var wake: @Sendable () -> Void { { [rings] in _ = rings.add() } }
}
