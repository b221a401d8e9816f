internal import Glibc
internal import Synchronization

/// The thread-safe end of a queue: what is the queue's own, whichever of its loops is at work.
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

  /// The queue's loops, which start with the first command that one of them gets.
  let loops: [QueueLoop]
  /// The only one there is, or the one that has what belongs to no origin.
  let home: QueueLoop
  /// Operations accepted whose final event has not been seen, and stores that are at work.
  let pending = Atomic(0)
  /// Requests in the stores of its engines.
  let frozen = Atomic(0)
  /// Its loop is about to end: nothing new is sent by it.
  let isEnding = Atomic(false)
  /// Stores of frozen requests that its engines use.
  private let stores = Mutex<[Freezer]>([])
  /// Stores of frozen requests that are at work: each counts as one that is pending.
  let held = Atomic(0)
  /// Final events on their way to user closures, and body bytes moved.
  enum Count: Int, CaseIterable { case undelivered, bytesIn, bytesOut }
  let counts = SharedCounts<Count>()
  let observers = QueueObservers()
  /// At most two at once for each device, and one for each loop.
  let fileWrites: DeviceBudgets
  let readAhead = BudgetRoom(ReadAhead.bytesMax)
  let spoolMemory = BudgetRoom(BodySpool.memoryMax)
  /// Each waits for its end: the times for which origins have asked for quiet.
  let pauses = BudgetCounter()
  let waitingForPauses = Atomic(0)
  /// The loggers of engines, by the engines' numbers.
  let logs = Mutex<[UInt64: @Sendable (String) -> Void]>([:])
  let settings: Mutex<NetworkQueue.Configuration>
  /// Each loop has a part of each origin.
  let splitsHotOrigins: Bool
  /// The places of all loops; nil where one loop has them.
  let width: SharedWidth?
  #if Metrics
  let gauges = QueueGauges()
  #endif
  /// Nothing is accepted any more.
  let isClosed = Atomic(false)
  /// A thread can be joined once: several who close it do so one after the other.
  private let closing = Mutex(())

  init(settings: NetworkQueue.Configuration, loops count: Int = 1) {
    ProcessSetup.begin()
    self.settings = Mutex(settings)
    loops = (0..<count).map { QueueLoop($0, originsMax: Origins.kept / count) }
    home = loops[0]
    fileWrites = DeviceBudgets(heldMax: max(2, count))
    splitsHotOrigins = settings.splitsHotOrigins
    width = count == 1 ? nil : SharedWidth(limit: settings.maximumConcurrent, loops: count)
  }

  /// Any thread. Accepts the operation or answers why not.
  func submit(_ operation: NetworkOperation, limit: Int) -> NetworkError? {
    // No port: neither the loop nor the queue is counted, which many threads would write for each operation.
    let place = operation.place
    if isOfParent || !loops[place].isStarted, let failure = operation.port.startIfNeeded(again: true) {
      return failure
    }
    guard pending.add(1, ordering: .relaxed).newValue <= limit || unended <= limit else {
      decrement()
      return NetworkError(.queueFull, cause: .operations)
    }
    guard loops[place].mailbox.send(.submit(operation)) else {
      decrement()
      return loops[place].whyClosed
    }
    return nil
  }

  /// A loop that is yet to start would keep the message, and with it the operation and this, for ever.
  func cancel(_ operation: NetworkOperation) {
    let port = operation.port
    if port.startIfNeeded() == nil { port.loop.mailbox.send(.cancel(operation)) }
  }

  /// Runs a closure on the thread of the home loop, behind everything that this engine has sent there before; without an
  /// engine behind everything. False when the loop is closed.
  @discardableResult
  func perform(of engine: UInt64? = nil, _ action: @escaping Action) -> Bool {
    port(of: home).perform(of: engine, action)
  }

  /// For a model: the loop is this thread's, which has it run by itself; there is no other. Before the first command.
  func runHere(in timeline: Timeline) throws(NetworkError) -> Scheduler {
    let scheduler = try Scheduler(port: port(of: home), timeline: timeline)
    home.beginHere()
    return scheduler
  }

  var isStarted: Bool { loops.contains { $0.isStarted } }

  /// This is a child of fork(2) of a process that has used the library: the loop threads are the parent's, and a queue of the
  /// child's own would have no thread that delivers, for Dispatch does not work there.
  var isOfParent: Bool { ForkGuard.generation > 0 }

  /// Ends the loop threads and waits for them; answers how many handles they left open, which must be none.
  /// Whatever still runs ends with `engineClosed`. Not from a loop thread.
  func close() -> Int {
    if isOfParent { return 0 }
    isClosed.store(true, ordering: .releasing)
    closing.withLock { _ in
      let threads = loops.map { $0.beginClosing() }
      for thread in threads { thread?.join() }
    }
    return loops.reduce(0) { $0 + $1.handlesLeft }
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
  func retain() {
    held.add(1, ordering: .relaxed)
    pending.add(1, ordering: .relaxed)
  }

  func release(_ times: Int = 1) {
    held.subtract(times, ordering: .relaxed)
    decrement(times)
  }

  /// Counts down what is pending, without an end that anybody is told of.
  func decrement(_ times: Int = 1) {
    if pending.subtract(times, ordering: .acquiringAndReleasing).newValue == 0 { observers.tellIdle() }
  }

  // MARK: Deliveries

  /// Loop thread.
  func willDeliver() { counts.add(1, to: .undelivered) }

  /// The delivery target: a final event has been seen.
  func didDeliver() {
    let left = pending.subtract(1, ordering: .acquiringAndReleasing).newValue
    // `unended` asks the other way round: nobody counts what has ended, whenever they ask.
    atomicMemoryFence(ordering: .releasing)
    counts.add(-1, to: .undelivered)
    if left == 0 { observers.tellIdle() }
  }
}

/// Watching the queue as a whole, changing its settings, and letting it go.
extension QueueDriver {
  /// Operations accepted and not yet ended.
  private var unended: Int {
    let others = counts[.undelivered] + held.load(ordering: .relaxed)
    atomicMemoryFence(ordering: .acquiring)
    return pending.load(ordering: .relaxed) - others
  }

  /// Exchanges under way. Loops tell of theirs one after the other, so a place that has gone from one to another may be told of
  /// twice.
  var running: Int {
    let told = loops.reduce(0) { $0 + $1.running.load(ordering: .relaxed) }
    return width.map { min(told, $0.occupied) } ?? told
  }

  /// The longest that anybody had one of the loops.
  var longestTurn: Microseconds { loops.map(\.watch.longest).max() ?? 0 }

  /// The longest since this was asked last.
  func takeLongestTurn() -> Microseconds { loops.map { $0.watch.takeLongest() }.max() ?? 0 }

  var activity: NetworkQueue.Activity {
    let running = running
    return NetworkQueue.Activity(
      queued: max(0, unended - running), running: running, frozen: frozen.load(ordering: .relaxed),
      bytesIn: Int64(counts[.bytesIn]), bytesOut: Int64(counts[.bytesOut]))
  }

  /// False when the settings are no longer these old ones.
  func apply(_ new: NetworkQueue.Configuration, over old: NetworkQueue.Configuration) -> Bool {
    let isApplied = settings.withLock { settings in
      guard settings == old else { return false }
      settings = new
      return true
    }
    guard isApplied else { return false }
    // Each takes what holds when its turn comes, so that all end with the last change, whichever thread is quicker. A loop that
    // has not started reads them when it does.
    width?.limitDidChange(self)
    performEverywhere { core in core.applySettings() }
    // What waits in their stores has started no loop.
    if old.isSuspended && !new.isSuspended { for freezer in freezers { freezer.dispatch { $0.thaw() } } }
    return true
  }

  /// Calls back once: with true when nothing is pending, with false when the deadline has passed before.
  func drain(deadline: Duration, done: @escaping @Sendable (Bool) -> Void) {
    if isOfParent { return done(false) }
    let isDone = Once()
    let tell: @Sendable (Bool) -> Void = { isIdle in if isDone.first() { done(isIdle) } }
    observers.add(idleOnce: { tell(true) })
    if pending.load(ordering: .acquiring) == 0 { return tell(true) }
    Later.run(after: deadline) { tell(false) }
  }

  /// The last reference is gone and nothing is under way: the loop threads end by themselves.
  func abandon() {
    if isOfParent { return }
    for loop in loops where loop.isStarted { loop.abandon() }
  }
}
