import Glibc
import Synchronization

/// Threads of their own, which begin at the same moment. A pool would start as many as it sees fit.
package enum ThreadTeam {
  /// Runs the step on each, and answers the nanoseconds from the common start to the end of the last.
  package static func run(_ count: Int, _ step: @escaping @Sendable (_ number: Int) -> Void) -> UInt64 {
    let waiting = Counter()
    let start = Atomic<UInt64>(0)
    let threads = (0..<count).map { number in
      begin {
        if waiting.next() == count { start.store(Clock.monotonic(), ordering: .releasing) }
        while start.load(ordering: .acquiring) == 0 { sched_yield() }
        step(number)
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    return Clock.monotonic() - start.load(ordering: .relaxed)
  }

  /// Runs the step on each, for good.
  package static func start(_ count: Int, _ step: @escaping @Sendable (_ number: Int) -> Void) {
    for number in 0..<count { pthread_detach(begin { step(number) }) }
  }

  private static func begin(_ step: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Step(step)).toOpaque()
    let failed = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<Step>.fromOpaque(context).takeRetainedValue().run()
        }
        return nil
      }, context)
    guard failed == 0 else { usageError("the system gives no more threads") }
    return thread
  }

  private final class Step: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
