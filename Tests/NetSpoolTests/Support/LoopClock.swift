import Glibc

@testable import NetSpool
@testable import TestSupport

/// How much work of its loop thread a queue has others wait for: the thread's CPU time between a command's sending and
/// its turn. Unlike time on the wall, other programs on the machine do not count.
struct LoopClock: Sendable {
  private let queue: NetworkQueue
  private let clock: clockid_t

  /// Starts the loop thread if it does not run yet.
  init(_ queue: NetworkQueue) async {
    self.queue = queue
    clock = await withCheckedContinuation { continuation in
      queue.driver.perform { _ in
        var clock = clockid_t()
        unsafe pthread_getcpuclockid(pthread_self(), &clock)
        continuation.resume(returning: clock)
      }
    }
  }

  /// What the thread has worked since it began.
  var now: Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// What the loop does until it takes a command that is sent now.
  func wait() async -> Duration {
    let start = now
    let end = await withCheckedContinuation { continuation in
      queue.driver.perform { _ in continuation.resume(returning: now) }
    }
    return end - start
  }

  /// What the loop does until it serves a socket that it does not know yet and that is ready now.
  func wait(forSocket descriptor: Int32) async -> Duration {
    await withCheckedContinuation { continuation in
      queue.driver.perform { core in
        let start = now
        _ = core.waits.wait(for: descriptor) { continuation.resume(returning: now - start) }
      }
    }
  }

  /// The longest wait of many, one after the other, for as long as that takes on the wall.
  func longestWait(for time: Duration) async -> Duration {
    let deadline = ContinuousClock.now + time
    var longest = Duration.zero
    while ContinuousClock.now < deadline { longest = max(longest, await wait()) }
    return longest
  }
}
