import Glibc
import Testing

/// Holds work against what is promised, in a test that is `measured`.
func expect(
  _ work: Duration, within limit: Duration, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if work < limit.patient || Measured.canBeRepeated() { return }
  let text: Comment = "worked \(work) instead of \(limit). \(comment?.rawValue ?? "")"
  Issue.record(text, sourceLocation: sourceLocation)
}

/// Runs a test anew that has measured too much work, three times in all: what else the machine does, or its host, only ever
/// adds to it, so the least of them is the nearest to what our code does. Whatever else fails in the test fails at once.
struct Measured: TestTrait, SuiteTrait, TestScoping {
  private static let timesMax = 3
  /// Says that the work was too much, while there is another time.
  @TaskLocal private static var repetition: Flag?

  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    for _ in 1..<Self.timesMax {
      let isNeeded = Flag()
      try await Self.$repetition.withValue(isNeeded) { try await body() }
      if !isNeeded.isSet { return }
    }
    try await body()
  }

  /// The test runs anew for what it has found, when it has not run too often: then nothing has failed yet.
  static func canBeRepeated() -> Bool {
    repetition?.set()
    return repetition != nil
  }
}

extension Trait where Self == Measured {
  static var measured: Measured { Measured() }
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
