import Glibc
import Testing

/// Holds work against what is promised.
func expect(
  _ work: Duration, within limit: Duration, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if work < limit.patient { return }
  let text: Comment = "worked \(work) instead of \(limit). \(comment?.rawValue ?? "")"
  Issue.record(text, sourceLocation: sourceLocation)
}

/// What this thread works for a body, in its CPU time: other programs on the machine do not count.
func work(for body: () throws -> Void) rethrows -> Duration {
  let (clock, start) = (WorkClock.ofThisThread, WorkClock.ofThisThread.now)
  try body()
  return clock.now - start
}

/// The CPU time of a thread, which any thread may read while that one lives, or of the process.
struct WorkClock: Sendable {
  private let clock: clockid_t

  static let ofProcess = WorkClock(clock: CLOCK_PROCESS_CPUTIME_ID)

  static var ofThisThread: WorkClock {
    var clock = clockid_t()
    unsafe pthread_getcpuclockid(pthread_self(), &clock)
    return WorkClock(clock: clock)
  }

  var now: Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
