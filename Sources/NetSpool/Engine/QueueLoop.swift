internal import Synchronization

/// A loop of a queue, as other threads know it: its mailbox, and its thread, which starts with the first command and ends
/// with `close`.
final class QueueLoop: Sendable {
  private enum Life: Sendable {
    case asleep
    case running(SystemThread)
    case failed(NetworkError)
    case closed(handlesLeft: Int)
  }

  /// Its place among the queue's.
  let number: Int
  let mailbox = Mailbox<QueueDriver.Command>()
  private let life = Mutex(Life.asleep)
  private let hasStarted = Atomic(false)
  private let isThere = Atomic(false)
  let watch = LoopWatch()
  /// Its operations that wait for their turn.
  let places = BudgetCounter()
  /// Exchanges under way; written by the loop, as what follows.
  let running = Atomic(0)
  let originsKnown = Atomic(0)
  /// With so many origins, those that are idle are forgotten.
  let originsMax: Atomic<Int>

  init(_ number: Int, originsMax: Int) {
    self.number = number
    self.originsMax = Atomic(originsMax)
  }

  var isStarted: Bool { hasStarted.load(ordering: .acquiring) }

  /// There is a loop: none of its commands gets lost any more.
  func didBegin() { isThere.store(true, ordering: .releasing) }
  var hasBegun: Bool { isThere.load(ordering: .acquiring) }

  /// Its own thread, or one that has its work done; see `QueueDriver.runHere`.
  func beginHere() { hasStarted.store(true, ordering: .releasing) }

  /// Why the mailbox takes nothing: the loop has ended, or its thread could not make one.
  var whyClosed: NetworkError {
    life.withLock { life in
      if case .failed(let failure) = life { failure } else { NetworkError(.engineClosed) }
    }
  }

  /// Its life is the thread that runs the closure. Where no loop could be made before, it is tried `again` if
  /// so asked.
  func start(again isAgain: Bool, _ run: @escaping @Sendable () -> Void) -> NetworkError? {
    life.withLock { life in
      switch life {
      case .running: return nil
      case .failed(let failure):
        guard isAgain else { return failure }
        mailbox.open()
      case .closed: return NetworkError(.engineClosed)
      case .asleep: break
      }
      do throws(NetworkError) {
        life = .running(try SystemThread.start(name: "netspool", run))
        hasStarted.store(true, ordering: .releasing)
        return nil
      } catch {
        life = .failed(error)
        return error
      }
    }
  }

  /// Its thread: it has ended.
  func didEnd(handlesLeft: Int) { life.withLock { $0 = .closed(handlesLeft: handlesLeft) } }

  /// Its thread: there is no loop, and no other thread will join it. Answers what had come for it.
  func didFail(_ failure: NetworkError) -> [QueueDriver.Command] {
    life.withLock { life in
      if case .running(let thread) = life { thread.detach() }
      life = .failed(failure)
      hasStarted.store(false, ordering: .releasing)
      // In the same step: who tries again opens it.
      return mailbox.close()
    }
  }

  /// Behind everything that was sent to it. The thread is the caller's to join: once it has ended nothing else knows it.
  func beginClosing() -> SystemThread? {
    let thread: SystemThread? = life.withLock { life in
      switch life {
      case .running(let thread): return thread
      case .asleep, .failed: life = .closed(handlesLeft: 0)
      case .closed: break
      }
      return nil
    }
    if thread != nil { mailbox.send(.perform({ $0.close() }, of: nil)) }
    return thread
  }

  /// The handles that it left open when it closed.
  var handlesLeft: Int {
    life.withLock { life in
      if case .closed(let left) = life { left } else { 0 }
    }
  }

  /// Has the thread end by itself, as no other thread will join it.
  func abandon() {
    // First: a thread that has ended can no longer be let go.
    life.withLock { life in
      if case .running(let thread) = life { thread.detach() }
    }
    mailbox.send(.perform({ $0.close() }, of: nil))
  }
}

/// The way to one loop of a queue. Any thread.
struct LoopPort: Sendable {
  let driver: QueueDriver
  let loop: QueueLoop

  /// Runs a closure on the loop's thread, behind everything that this engine has sent there before; without an engine
  /// behind everything. False when the loop is closed.
  @discardableResult
  func perform(of engine: UInt64? = nil, _ action: @escaping QueueDriver.Action) -> Bool {
    guard startIfNeeded() == nil else { return false }
    return loop.mailbox.send(.perform(action, of: engine))
  }

  /// The same; the other closure runs where there is no loop, or none can be made: on this thread or that of
  /// the loop.
  func perform(
    of engine: UInt64, _ action: @escaping QueueDriver.Action, otherwise: @escaping @Sendable () -> Void
  ) {
    let isTaken = Once()
    let end = Countdown(0) { if isTaken.first() { otherwise() } }.part()
    perform(of: engine) { core in
      if isTaken.first() { action(core) }
      end.end()
    }
  }

  /// - Parameter isAgain: tries once more where the process was short of what a loop needs, as requests do.
  func startIfNeeded(again isAgain: Bool = false) -> NetworkError? {
    if driver.isOfParent { return NetworkError(.usedAfterFork) }
    return loop.isStarted ? nil : start(again: isAgain)
  }

  /// All of them at once: what one lacks later, others would have in vain.
  private func start(again isAgain: Bool) -> NetworkError? {
    for other in driver.loops where other !== loop {
      let port = driver.port(of: other)
      _ = other.start(again: isAgain) { port.run() }
    }
    return loop.start(again: isAgain) { [self] in run() }
  }

  /// The loop thread's whole life.
  private func run() {
    // Before it reads the settings: who changes them later tells it.
    loop.beginHere()
    do throws(NetworkError) {
      let core = try Scheduler(port: self)
      loop.didBegin()
      // Whoever waits on the loop thread waits for itself, so all of it counts as inside a delivery.
      withExtendedLifetime(HeapRoom()) { Delivery.inside { core.loop.run() } }
      loop.didEnd(handlesLeft: core.loop.finish())
    } catch {
      for command in loop.didFail(error) {
        guard case .submit(let operation) = command else { continue }
        operation.refuse(error)
        driver.decrement()
      }
    }
  }
}
