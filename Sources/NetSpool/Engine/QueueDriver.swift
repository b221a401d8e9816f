internal import Dispatch
internal import Glibc
internal import Synchronization

/// The thread-safe end of a queue: it owns the mailbox and the loop thread, which starts with the first
/// command and ends with `close`.
final class QueueDriver: Sendable {
  typealias Action = @Sendable (Scheduler) -> Void

  enum Command: Sendable {
    case submit(NetworkOperation)
    case cancel(NetworkOperation)
    case perform(Action, of: UInt64?)

    /// Instead of an engine: what the queue's own threads have to say, which has its turn as an engine's has.
    static let house = UInt64.max

    /// The engine whose it is. Nil: everybody's.
    var engine: UInt64? {
      switch self {
      case .submit(let operation), .cancel(let operation): operation.engine.id
      case .perform(_, let engine): engine
      }
    }
  }

  private enum Life: Sendable {
    case asleep
    case running(SystemThread)
    case failed(NetworkError)
    case closed(handlesLeft: Int)
  }

  let mailbox = Mailbox<Command>()
  private let generation = ForkGuard.generation
  private let life = Mutex(Life.asleep)
  private let hasStarted = Atomic(false)
  /// Operations accepted and not yet ended.
  let pending = Atomic(0)
  /// Final events on their way to user closures.
  let undelivered = Atomic(0)
  /// Exchanges under way, and body bytes moved; written by the loop.
  let running = Atomic(0)
  /// Requests in the stores of its engines.
  let frozen = Atomic(0)
  /// Its loop is about to end: nothing new is sent by it.
  let isEnding = Atomic(false)
  /// Stores of frozen requests that its engines use.
  private let stores = Mutex<[Freezer]>([])
  /// Stores of frozen requests that are at work: each counts as one that is pending.
  let held = Atomic(0)
  let bytesIn = Atomic<Int64>(0)
  let bytesOut = Atomic<Int64>(0)
  let observers = QueueObservers()
  let loopWatch = LoopWatch()
  let fileWrites = DeviceBudgets(heldMax: 2)
  /// Operations that wait for their turn.
  let places = BudgetCounter()
  /// Each waits for its end: the times for which origins have asked for quiet.
  let pauses = BudgetCounter()
  let waitingForPauses = Atomic(0)
  let originsKnown = Atomic(0)
  let originsMax = Atomic(Scheduler.originsKept)
  /// The loggers of engines, by the engines' numbers.
  let logs = Mutex<[UInt64: @Sendable (String) -> Void]>([:])
  let settings: Mutex<NetworkQueue.Configuration>

  init(settings: NetworkQueue.Configuration) {
    ProcessSetup.begin()
    self.settings = Mutex(settings)
  }

  /// Any thread. Accepts the operation or answers why not.
  func submit(_ operation: NetworkOperation, limit: Int) -> NetworkError? {
    if let failure = startIfNeeded() { return failure }
    guard pending.add(1, ordering: .relaxed).newValue <= limit else {
      pending.subtract(1, ordering: .relaxed)
      return NetworkError(.queueFull, reason: "operations")
    }
    guard mailbox.send(.submit(operation)) else {
      pending.subtract(1, ordering: .relaxed)
      return whyClosed
    }
    return nil
  }

  /// Why the mailbox takes nothing: the loop has ended, or its thread could not make one.
  private var whyClosed: NetworkError {
    life.withLock { life in
      if case .failed(let failure) = life { failure } else { NetworkError(.engineClosed) }
    }
  }

  /// A loop that is yet to start would keep the message, and with it the operation and this, for ever.
  func cancel(_ operation: NetworkOperation) {
    if startIfNeeded() == nil { mailbox.send(.cancel(operation)) }
  }

  /// Runs a closure on the loop thread, behind everything that this engine has sent before; without an engine behind
  /// everything. False when the loop is closed.
  @discardableResult
  func perform(of engine: UInt64? = nil, _ action: @escaping Action) -> Bool {
    guard startIfNeeded() == nil else { return false }
    return mailbox.send(.perform(action, of: engine))
  }

  /// For a model: the loop is this thread's, which has it run by itself; there is no other. Before the first command.
  func runHere(in timeline: Timeline) throws(NetworkError) -> Scheduler {
    let scheduler = try Scheduler(driver: self, timeline: timeline)
    hasStarted.store(true, ordering: .releasing)
    return scheduler
  }

  var isStarted: Bool { hasStarted.load(ordering: .acquiring) }

  /// Nobody will join the thread.
  func detach() {
    if isOfParent { return }
    life.withLock { life in
      if case .running(let thread) = life { thread.detach() }
    }
  }

  /// This is a child of fork(2), and the loop thread is the parent's.
  var isOfParent: Bool { ForkGuard.generation != generation }

  private func startIfNeeded() -> NetworkError? {
    if isOfParent { return NetworkError(.usedAfterFork) }
    if hasStarted.load(ordering: .acquiring) { return nil }
    return life.withLock { life in
      switch life {
      case .running: return nil
      case .failed(let failure): return failure
      case .closed: return NetworkError(.engineClosed)
      case .asleep: return start(&life)
      }
    }
  }

  private func start(_ life: inout Life) -> NetworkError? {
    do throws(SystemThread.StartFailure) {
      life = .running(try SystemThread.start(name: "netspool") { [self] in run() })
      hasStarted.store(true, ordering: .releasing)
      return nil
    } catch {
      let failure = NetworkError(.engineStartFailed, reason: "threads", underlying: .errno(error.errno))
      life = .failed(failure)
      return failure
    }
  }

  /// The loop thread's whole life.
  private func run() {
    do throws(NetworkError) {
      let core = try Scheduler(driver: self)
      // Whoever waits on the loop thread waits for itself, so all of it counts as inside a delivery.
      withExtendedLifetime(HeapRoom()) { Delivery.inside { core.run() } }
      let left = core.finish()
      life.withLock { $0 = .closed(handlesLeft: left) }
    } catch {
      life.withLock { life in
        if case .running(let thread) = life { thread.detach() }  // it ends here, and nobody will join it
        life = .failed(error)
      }
      for case .submit(let operation) in mailbox.close() {
        pending.subtract(1, ordering: .relaxed)
        operation.refuse(error)
      }
    }
  }

  /// Ends the loop thread and waits for it; answers how many handles it left open, which must be none.
  /// Whatever still runs ends with `engineClosed`. Not from the loop thread.
  func close() -> Int {
    if isOfParent { return 0 }
    let thread: SystemThread? = life.withLock { life in
      if case .running(let thread) = life { return thread }
      if case .asleep = life { life = .closed(handlesLeft: 0) }
      return nil
    }
    guard let thread else { return closedHandlesLeft }
    mailbox.send(.perform({ $0.close() }, of: nil))
    thread.join()
    return closedHandlesLeft
  }

  private var closedHandlesLeft: Int {
    life.withLock { life in
      if case .closed(let left) = life { return left }
      return 0
    }
  }

  // MARK: Frozen requests

  var freezers: [Freezer] { stores.withLock { $0 } }
  func remember(_ freezer: Freezer) {
    stores.withLock { stores in
      if !stores.contains(where: { $0 === freezer }) { stores.append(freezer) }
    }
  }
  func forget(_ freezer: Freezer) { stores.withLock { $0.removeAll { $0 === freezer } } }

  /// A store of frozen requests has something to do.
  func hold() {
    held.add(1, ordering: .relaxed)
    pending.add(1, ordering: .relaxed)
  }

  func letGo(_ times: Int = 1) {
    held.subtract(times, ordering: .relaxed)
    retract(times)
  }

  /// One that was pending is so no longer, and nobody is told of its end.
  func retract(_ times: Int = 1) {
    if pending.subtract(times, ordering: .acquiringAndReleasing).newValue == 0 { observers.tellIdle() }
  }

  // MARK: Deliveries

  /// Loop thread.
  func willDeliver() { undelivered.add(1, ordering: .relaxed) }

  /// The delivery target: a final event has been seen.
  func didDeliver() {
    undelivered.subtract(1, ordering: .sequentiallyConsistent)
    if pending.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { observers.tellIdle() }
  }
}

/// Watching the queue as a whole, changing its settings, and letting it go.
extension QueueDriver {
  var activity: NetworkQueue.Activity {
    let running = running.load(ordering: .relaxed)
    return NetworkQueue.Activity(
      queued: max(
        0,
        pending.load(ordering: .relaxed) - undelivered.load(ordering: .relaxed)
          - held.load(ordering: .relaxed) - running),
      running: running, frozen: frozen.load(ordering: .relaxed), bytesIn: bytesIn.load(ordering: .relaxed),
      bytesOut: bytesOut.load(ordering: .relaxed)
    )
  }

  func observe(activity: @escaping @Sendable (NetworkQueue.Activity) -> Void) {
    observers.add(activity: activity)
  }
  func observe(idle: @escaping @Sendable () -> Void) { observers.add(idle: idle) }

  func apply(_ new: NetworkQueue.Configuration) {
    settings.withLock { $0 = new }
    // A loop that has not started reads them when it does.
    if isStarted { perform { core in core.apply(new) } }
  }

  /// Calls back once: with true when nothing is pending, with false when the deadline has passed before.
  func drain(deadline: Duration, done: @escaping @Sendable (Bool) -> Void) {
    if isOfParent { return done(false) }
    let isTold = Once()
    let tell: @Sendable (Bool) -> Void = { isIdle in if isTold.first() { done(isIdle) } }
    observers.add(idleOnce: { tell(true) })
    if pending.load(ordering: .acquiring) == 0 { return tell(true) }
    DispatchQueue.global().asyncAfter(deadline: .now() + deadline.seconds) { tell(false) }
  }

  /// The last reference is gone and nothing is under way: the loop thread ends by itself.
  func abandon() {
    guard isStarted, !isOfParent else { return }
    detach()  // first: a thread that has ended can no longer be let go
    mailbox.send(.perform({ $0.close() }, of: nil))
  }
}

/// Who wants to hear what the whole queue does. Closures run on a serial queue of their own.
final class QueueObservers: Sendable {
  private struct State: Sendable {
    var activity: [@Sendable (NetworkQueue.Activity) -> Void] = []
    var idle: [@Sendable () -> Void] = []
    /// Called once, at the next idle moment.
    var idleOnce: [@Sendable () -> Void] = []
    /// What the observers have still to be told.
    var untold: [NetworkQueue.Activity] = []
  }

  /// An observer that falls behind by more hears of the newest instead: what a slow one has not heard takes no memory.
  static let untoldMax = 64

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "netspool.observers")
  /// The loop asks before it counts.
  let wantsActivity = Atomic(false)

  func add(activity: @escaping @Sendable (NetworkQueue.Activity) -> Void) {
    state.withLock { $0.activity.append(activity) }
    wantsActivity.store(true, ordering: .releasing)
  }

  func add(idle: @escaping @Sendable () -> Void) { state.withLock { $0.idle.append(idle) } }
  func add(idleOnce: @escaping @Sendable () -> Void) { state.withLock { $0.idleOnce.append(idleOnce) } }

  func tell(_ activity: NetworkQueue.Activity) {
    let isFirst = state.withLock { state in
      if state.untold.count == Self.untoldMax { state.untold.removeLast() }
      state.untold.append(activity)
      return state.untold.count == 1
    }
    if isFirst { queue.async { [self] in tellNext() } }
  }

  private func tellNext() {
    let (next, observers) = state.withLock { ($0.untold.first, $0.activity) }
    guard let next else { return }
    Delivery.run(observers) { $0(next) }
    // It goes only now: while it is there, nobody else begins to tell.
    let isLast = state.withLock { state in
      state.untold.removeFirst()
      return state.untold.isEmpty
    }
    if !isLast { queue.async { [self] in tellNext() } }
  }

  func tellIdle() {
    let (observers, once) = state.withLock { state in
      defer { state.idleOnce = [] }
      return (state.idle, state.idleOnce)
    }
    for body in once { body() }
    guard !observers.isEmpty else { return }
    queue.async { Delivery.run(observers) { $0() } }
  }
}
