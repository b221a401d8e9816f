internal import Synchronization

/// What is done to all operations of a queue with several loops: each loop goes through its own, and those that are on their
/// way from one loop to another meanwhile are caught where they arrive.
final class SharedSweeps: Sendable {
  /// What is to be done to one that arrives.
  typealias Catch = @Sendable (Scheduler, NetworkOperation) -> Void

  private struct Sweep: Sendable {
    /// Its number: operations that were enqueued before it are its.
    let number: UInt32
    let meets: Catch
  }

  private let sweeps = Mutex<[Sweep]>([])
  /// The number of those that have begun.
  private let begun = Atomic<UInt32>(0)

  /// What a new operation is told: later ones are not behind it.
  var latest: UInt32 { begun.load(ordering: .acquiring) }

  fileprivate func begin(_ meets: @escaping Catch) -> UInt32 {
    sweeps.withLock { sweeps in
      let number = begun.add(1, ordering: .acquiringAndReleasing).newValue
      sweeps.append(Sweep(number: number, meets: meets))
      return number
    }
  }

  fileprivate func end(_ number: UInt32) { sweeps.withLock { $0.removeAll { $0.number == number } } }

  func those(behind enqueued: UInt32) -> [Catch] {
    sweeps.withLock { $0.filter { $0.number > enqueued }.map(\.meets) }
  }
}

extension QueueDriver {
  /// Has each loop do its part, behind everything that the engine has asked of it, and then calls back, on any thread.
  ///
  /// An operation that leaves a loop before the loop does its part has been sent by then, and so arrives before anything that
  /// is sent to the other loop once all have done theirs: behind that, none is on its way that should have been met.
  func sweep(
    of engine: UInt64?, _ doPart: @escaping Action, meets: @escaping SharedSweeps.Catch,
    done: @escaping @Sendable () -> Void = {}
  ) {
    let number = sweeps.begin(meets)
    performEverywhere(of: engine) { core in
      core.meetDeparting(meets, behind: number)
      doPart(core)
    } done: { [self] in
      performEverywhere(of: engine) { _ in
      } done: { [self] in
        sweeps.end(number)
        done()
      }
    }
  }
}

extension NetworkEngine {
  /// Any thread: ends every operation of this engine that is enqueued by now and matches, on whatever loop.
  func cancelAll(_ failure: NetworkError, where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    defer { endFollowUps(failure, where: matches) }
    if driver.isAlone {
      perform { [self] core in core.cancelAll(failure) { $0.engine === self && matches($0) } }
      return
    }
    driver.sweep(of: id) { [self] core in
      core.cancelAll(failure) { $0.engine === self && matches($0) }
    } meets: { [self] core, operation in
      guard operation.engine === self, core.isOpen(operation), matches(operation) else { return }
      if failure.code != .cancelled || !operation.isAttempt { core.withdraw(operation, failure) }
    }
  }

  /// The same as `Scheduler.shutDown`, for all loops.
  func shutDownEverywhere(deadline: Duration, done: @escaping @Sendable () -> Void) {
    let countdown = Countdown(1) { [self] in deliverLate(done) }
    driver.sweep(of: id) { [self] core in
      core.awaitEnds(of: self, countdown) { _ in }
    } meets: { [self] core, operation in
      if operation.engine === self, core.isOpen(operation) { core.awaitEnd(of: operation, countdown) }
    } done: { [self] in
      Scheduler.leaveFrozen(self, deadline: deadline) { countdown.signal() }
    }
    perform { [self] core in
      core.timers.after(milliseconds: deadline.milliseconds) { [self] in
        cancelAll(NetworkError(.engineClosed)) { _ in true }
      }
    }
  }
}
