import Synchronization

@testable import NetSpool
@testable import TestSupport

/// How much work of its loops a queue has others wait for: the threads' CPU time, from one turn to the next, and between a
/// command's sending and its turn. Unlike time on the wall, other programs on the machine do not count.
struct LoopClock: Sendable {
  private let queue: NetworkQueue
  private let clock: WorkClock
  private let longest = Longest()

  /// Starts the loop threads that do not run yet, and measures their turns from now on.
  init(_ queue: NetworkQueue) async {
    self.queue = queue
    queue.driver.eachLoop { [longest] core in longest.watch(core.loop) }
    clock = await queue.onLoop { _ in WorkClock.ofThisThread }
  }

  /// What the home loop's thread has worked since it began.
  var now: Duration { clock.now }

  /// The most that one of the loops has worked from the beginning of a turn to that of the next.
  var longestTurn: Duration {
    get async {
      await queue.driver.goRound()
      return longest.value
    }
  }

  /// What the home loop does until it takes a command of somebody else, which it sends itself when it has come to what was
  /// sent before: a test's thread that has to wait for a processor between two of its steps does not count.
  func wait() async -> Duration {
    await withCheckedContinuation { continuation in
      queue.driver.perform { _ in
        let start = now
        queue.driver.perform(of: QueueDriver.Command.house) { _ in continuation.resume(returning: now - start)
        }
      }
    }
  }

  /// What the home loop does until it serves a socket that it does not know yet and that is ready now.
  func wait(forSocket descriptor: Int32) async -> Duration {
    await withCheckedContinuation { continuation in
      queue.driver.perform { core in
        let start = now
        _ = core.sinks.waits.wait(for: descriptor) { continuation.resume(returning: now - start) }
      }
    }
  }

  /// The longest that somebody else's command waits, of many, one after the other, until `body` has run.
  func longestWait(during body: () async throws -> Void) async rethrows -> Duration {
    let (isOver, longest) = (Flag(), Longest())
    async let end: Void = withCheckedContinuation { continuation in
      sendCommands(until: isOver, longest, continuation)
    }
    do { try await body() } catch {
      isOver.set()
      await end
      throw error
    }
    isOver.set()
    await end
    return longest.value
  }

  /// Another one whenever one is taken.
  private func sendCommands(
    until isOver: Flag, _ longest: Longest, _ continuation: CheckedContinuation<Void, Never>,
    sent: Duration? = nil
  ) {
    queue.driver.perform(of: QueueDriver.Command.house) { _ in
      let taken = now
      if let sent { longest.note(taken - sent) }
      if isOver.isSet { return continuation.resume() }
      sendCommands(until: isOver, longest, continuation, sent: taken)
    }
  }

  private final class Longest: Sendable {
    private let state = Mutex(Duration.zero)

    var value: Duration { state.withLock { $0 } }
    func note(_ time: Duration) { state.withLock { $0 = max($0, time) } }

    /// Loop thread.
    func watch(_ loop: EventLoop) {
      let (clock, turn) = (WorkClock.ofThisThread, loop.onTurn)
      var last = clock.now
      loop.onTurn = { [self] in
        let now = clock.now
        note(now - last)
        last = now
        turn()
      }
    }
  }
}
