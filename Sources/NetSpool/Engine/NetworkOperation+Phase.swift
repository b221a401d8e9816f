extension NetworkOperation {
  /// Where the loop has an operation. What belongs to a phase stands in it, and goes with it; nothing else says where
  /// an operation is. `Scheduler.move(_:to:)` alone changes it.
  enum Phase {
    /// The queue does not know it yet.
    case ready
    /// For its turn, or for what `Wait.Reason` says.
    case waiting(Waiting)
    /// An equal request, its leader, has an exchange for both.
    case sharing(NetworkOperation)
    /// The same, but it came late: it reads from the first byte on what has been spooled of the body, at its own pace.
    case following(NetworkOperation, Playback)
    /// Its exchange is on the wire.
    case running
    /// Its exchange is over, and what follows is about to be decided: only inside one function of the loop.
    case deciding
    /// Stopped by its user, with its exchange or before it.
    case paused
    /// A stored body is on its way into its streams.
    case playing(Playback)
    /// The body is whole, or never will be: its streams finish.
    case publishing
    /// Its request is with a store of frozen requests.
    case frozen(Freezer)
    case ended
  }

  /// The operation whose exchange this one gets its answer from: another that it shares with, or itself.
  var leader: NetworkOperation {
    switch loop.phase {
    case .sharing(let leader), .following(let leader, _): leader
    default: self
    }
  }

  /// The operations that get this leader's answer: itself and its waiters, without those whose user has left.
  var recipients: [NetworkOperation] {
    let waiters = loop.waiters.filter { $0.leader === self }
    return loop.isDetached ? waiters : [self] + waiters
  }

  /// The same without a list.
  func forEachRecipient(_ body: (NetworkOperation) -> Void) {
    if !loop.isDetached { body(self) }
    for waiter in loop.waiters where waiter.leader === self { body(waiter) }
  }

  /// A recipient of its answer has it streamed.
  var streamsAnswer: Bool { recipients.contains { $0.hasStreams } }

  /// Its origin's width learns from how its exchange goes.
  var isJudged: Bool {
    if case .running = loop.phase { loop.transfer?.exchange.isJudged ?? true } else { false }
  }

  /// Loop thread.
  var hasStreams: Bool { loop.hasStreams }
}

/// Goes through the operations that there were when it began: a million of them are not looked at in one turn.
final class OperationSweep {
  let until: Microseconds
  let matches: (NetworkOperation) -> Bool
  fileprivate let failure: NetworkError?
  fileprivate var next: NetworkOperation?

  /// - Parameters:
  ///   - until: those that came later are not its.
  ///   - failure: how it ends them; nil: it only looks.
  init(until: Microseconds, ends failure: NetworkError? = nil, matches: @escaping (NetworkOperation) -> Bool)
  {
    (self.until, self.failure, self.matches) = (until, failure, matches)
  }
}

/// All operations that the queue knows and that have not ended, in the order in which they came: a list whose links
/// are in the operations, because millions may wait. Loop thread.
struct OperationTable: ~Copyable {
  private var first: NetworkOperation?
  private var last: NetworkOperation?
  private var count = 0
  /// The most there were since `takeCrowd`.
  private var countMax = 0

  /// When the last came, a little later than the one before.
  var lastSubmittedAt: Microseconds = 0
  /// The sweeps under way.
  private var sweeps: [OperationSweep] = []

  var isEmpty: Bool { first == nil }

  /// True once after there were very many, when none is left.
  mutating func takeCrowd() -> Bool {
    guard count == 0, countMax >= 65_536 else { return false }
    countMax = 0
    return true
  }

  mutating func insert(_ operation: NetworkOperation) {
    count += 1
    operation.loop.isListed = true
    countMax = max(countMax, count)
    if let previous = last.take() {
      previous.loop.next = operation
      operation.loop.previous = previous
    } else {
      first = operation
    }
    last = operation
  }

  mutating func remove(_ operation: NetworkOperation) {
    count -= 1
    operation.loop.isListed = false
    for sweep in sweeps where sweep.next === operation { sweep.next = operation.loop.next }
    let (previous, next) = (operation.loop.previous.take(), operation.loop.next.take())
    if let previous { previous.loop.next = next } else { first = next }
    if let next { next.loop.previous = previous } else { last = previous }
  }

  mutating func begin(_ sweep: OperationSweep) {
    sweep.next = first
    sweeps.append(sweep)
  }

  /// The next that the sweep is to look at; nil when it is over.
  mutating func next(of sweep: OperationSweep) -> NetworkOperation? {
    guard let operation = sweep.next, operation.loop.submittedAt <= sweep.until else {
      sweeps.removeAll { $0 === sweep }
      sweep.next = nil
      return nil
    }
    sweep.next = operation.loop.next
    return operation
  }

  /// How a sweep is going to end it.
  func failure(awaiting operation: NetworkOperation) -> NetworkError? {
    for sweep in sweeps where operation.loop.submittedAt <= sweep.until {
      if let failure = sweep.failure, sweep.matches(operation) { return failure }
    }
    return nil
  }

  /// Returns those that match, collected first: the caller is about to end some of them.
  func all(where matches: (NetworkOperation) -> Bool = { _ in true }) -> [NetworkOperation] {
    var found: [NetworkOperation] = []
    var current = first
    while let operation = current {
      current = operation.loop.next
      if matches(operation) { found.append(operation) }
    }
    return found
  }
}

extension Scheduler {
  /// The one place where an operation goes from one phase to another: what belongs to the old one is given back here,
  /// and what the new one counts for is counted.
  func move(_ operation: NetworkOperation, to phase: NetworkOperation.Phase) {
    loop.assertOnLoop()
    if case .ended = operation.loop.phase { return }
    var old = phase
    swap(&old, &operation.loop.phase)
    leave(old, operation)
    enter(phase, operation)
  }

  private func leave(_ phase: NetworkOperation.Phase, _ operation: NetworkOperation) {
    switch phase {
    case .ready: operations.insert(operation)
    case .waiting(let waiting): leave(waiting, operation)
    case .running: seats.leave(operation)
    case .sharing(let leader): leader.makeExtras().waitersLeft -= 1
    case .following(let leader, let playback):
      leader.makeExtras().waitersLeft -= 1
      seats.rooms.giveStreams(operation.engine)
      if case .playing = operation.loop.phase { break }
      playback.stop()
      // What gathered in memory is nobody's; streams keep what they have got.
      if !operation.loop.hasSinks { operation.loop.extras?.fanout = nil }
    case .playing(let playback):
      playback.stop()
      seats.rooms.giveStreams(operation.engine)
    case .publishing: seats.rooms.giveStreams(operation.engine)
    case .deciding, .paused, .frozen, .ended: break
    }
  }

  private func leave(_ waiting: Waiting, _ operation: NetworkOperation) {
    let isRefused = if case .ended = operation.loop.phase { true } else { false }
    switch waiting {
    case .turn(let ticket):
      context.queue.remove(ticket)  // nothing when it left with its turn
      port.loop.places.end(operation.loop.placeWait, isRefused: isRefused)
      seats.seat(operation.engine, waiting: -1)
    case .others: break
    case .until(let wait):
      timers.cancel(wait.timer)
      wait.callOff(isRefused: isRefused)
      switch wait.reason {
      case .addresses, .authorities: names.leave(operation, wait)
      case .room, .playback: seats.rooms.didLeave(operation.engine)
      default: break
      }
    }
  }

  private func enter(_ phase: NetworkOperation.Phase, _ operation: NetworkOperation) {
    switch phase {
    case .waiting(.turn):
      operation.loop.cacheUse?.claim = nil  // others need not wait for its turn
      operation.loop.placeWait = port.loop.places.wait()
      seats.seat(operation.engine, waiting: 1)
    case .waiting(.until(let wait)):
      if wait.reason.givesClaimUp { operation.loop.cacheUse?.claim = nil }
      if wait.reason.isTold { operation.forEachRecipient { context.set(.queued, $0) } }
    case .running: seats.enter(operation)
    case .sharing(let leader): leader.makeExtras().waitersLeft += 1
    case .following(let leader, _):
      leader.makeExtras().waitersLeft += 1
      seats.rooms.takeStreams(operation.engine)
      sinks.watch.begin(operation)
    case .paused:
      operation.loop.cacheUse?.claim = nil
      context.holdTotal(of: operation)
      context.set(.paused, operation)
    case .playing:
      seats.rooms.takeStreams(operation.engine)
      sinks.watch.begin(operation)
    case .publishing: seats.rooms.takeStreams(operation.engine)
    case .ended:
      sinks.watch.end(operation)
      operation.loop.extras?.lateBody = nil
      operation.loop.extras?.unwritten = []
      operations.remove(operation)
      if operations.takeCrowd() { giveMemoryBack() }
    case .ready, .waiting(.others), .deciding, .frozen: break
    }
  }

  /// A little later, as closures still hold what has just ended, and when no operation is here that would wait meanwhile.
  private func giveMemoryBack() {
    timers.after(milliseconds: 1_000) { [unowned self] in
      guard operations.isEmpty else { return giveMemoryBack() }
      sinks.worker.run(on: Worker.Lane()) {
        FreeMemory.giveBack()
      } completion: {
      }
    }
  }
}
