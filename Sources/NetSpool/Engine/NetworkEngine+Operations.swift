internal import Dispatch
internal import Glibc
internal import Synchronization

/// What an engine does for each of its operations, and its end.
extension NetworkEngine {
  /// An observer hears of every ending.
  var observesEnds: Bool {
    #if Metrics || Tracing
    true
    #else
    configuration.onEnd != nil || isLogged
    #endif
  }

  /// Any thread: it accepts nothing more, or its queue does not.
  var isClosed: Bool {
    endsAt.load(ordering: .acquiring) != .max || driver.isClosed.load(ordering: .acquiring)
  }

  /// Any thread: its deadline has passed. That ends an engine on each loop at that one's own moment, and nothing begins
  /// between them.
  var isOver: Bool {
    let end = endsAt.load(ordering: .relaxed)
    return end != .max && end <= MonotonicClock.now
  }

  /// A closure of the user's has a say in how an operation ends, or hears of it: on the delivery target.
  var hasWordAtEnds: Bool { configuration.validate != nil || observesEnds }

  func prepare(_ request: inout NetworkRequest) throws(NetworkError) {
    guard let prepare = configuration.prepare else { return }
    do {
      try prepare(&request)
    } catch {
      throw NetworkError(thrown: error, .invalidRequest, reason: "prepare threw \(error)")
    }
  }

  /// Any thread. Accepts the operation or answers why not.
  func submit(_ operation: NetworkOperation) -> NetworkError? {
    if isClosed { return NetworkError(.engineClosed) }
    #if Metrics
    metrics.lookSoon(self)
    #endif
    return driver.submit(operation, limit: configuration.limits.operationsQueuedMax)
  }

  /// An answer of 400 or more is an error with the answer inside, unless `validate` says otherwise, or it is known to be
  /// a success.
  func judge(_ outcome: NetworkOperation.Outcome, isSuccess: Bool = false) -> NetworkOperation.Outcome {
    guard case .success(let response) = outcome else { return outcome }
    if let validate = configuration.validate {
      guard var failure = Self.objection(of: validate, to: response) else { return outcome }
      failure.response = failure.response ?? response
      return .failure(failure)
    }
    guard response.isOfError, !isSuccess else { return outcome }
    return .failure(NetworkError(status: response))
  }

  private static func objection(
    of validate: @Sendable (NetworkResponse) throws -> Void, to response: NetworkResponse
  ) -> NetworkError? {
    do {
      try validate(response)
      return nil
    } catch let failure as NetworkError {
      return failure
    } catch {
      var failure = NetworkError(status: response)
      failure.reason = "validate threw \(error)"
      failure.thrown = error
      return failure
    }
  }

  /// Any thread: accepts nothing more, lets what runs end until the deadline, ends the rest. `done` comes behind the last
  /// final event, and once the disk has what was stored, for which it waits 5 s at most.
  func shutDown(deadline: Duration, done: @escaping @Sendable () -> Void) {
    let end = MonotonicClock.now + deadline.microseconds
    endsAt.min(end, ordering: .acquiringAndReleasing)
    let done = whenStored(done)
    followUps.endPauses()
    endOperations(deadline: deadline) { [self] in
      followUps.whenEmpty(done)
      if followUps.isEmpty { return }
      Later.run(after: .microseconds(end - MonotonicClock.now)) { [self] in
        endFollowUps(NetworkError(.engineClosed)) { _ in true }
      }
    }
  }

  private func whenStored(_ done: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    guard let store = cache?.store else { return done }
    let isDone = Once()
    let tell: @Sendable () -> Void = { if isDone.first() { done() } }
    return {
      Later.run(after: .seconds(5), tell)
      store.afterCommit(tell)
    }
  }

  private func endOperations(deadline: Duration, done: @escaping @Sendable () -> Void) {
    // Nothing runs, but what ended without the loop may be on its way to its closures.
    // In a child of fork(2) no thread is there that could leave. Twice: some may stand behind the first.
    guard !driver.isOfParent, driver.isStarted || freezing != nil else {
      return deliverLate { [self] in deliverLate(done) }
    }
    let countdown = Countdown(1) { [self] in deliverLate(done) }
    driver.performEverywhere(of: id) { [self] core in
      core.shutDown(self, deadline: deadline, countdown)
    } done: { [self] in
      Scheduler.leaveFrozen(self, deadline: deadline) { countdown.signal() }
    }
  }

  /// Any thread: ends every operation of this engine that is enqueued by now and matches, on whatever loop.
  func cancelAll(_ failure: NetworkError, where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    defer { endFollowUps(failure, where: matches) }
    driver.performEverywhere(of: id) { [self] core in
      core.cancelAll(failure) { $0.engine === self && matches($0) }
    }
  }
}

extension NetworkError {
  /// The origin answered, with a status that says no.
  init(status response: NetworkResponse) {
    self.init(
      .status, reason: "\(response.head.status)", underlying: .http(response.head.status),
      sendState: .answered)
    attempts = response.metrics.attempts
    self.response = response
    url = Redaction.standard.url(response.finalURL)
  }
}

extension NetworkEngine {
  /// Any thread: runs a closure on the home loop, behind everything that this engine has asked of it.
  @discardableResult
  func perform(_ action: @escaping QueueDriver.Action) -> Bool { driver.perform(of: id, action) }

  /// The way to the loop of its own origin, which has its cookies as well.
  var homePort: LoopPort { driver.port(for: home.map { $0.text + "/" } ?? "", of: self) }
}

/// The way to the delivery target that does not lead over the loop. Any thread.
extension NetworkEngine {
  /// A handler that came after the end: of an operation on the loop that it was on.
  func deliverLate(of operation: NetworkOperation? = nil, _ body: @escaping @Sendable () -> Void) {
    // In a child of fork(2) no other thread is there to do it.
    if driver.isOfParent { return NetSpool.Delivery.run(body) }
    switch target {
    case .queue(let queue): queue.async { NetSpool.Delivery.run(body) }
    case .loopThread:
      let port = operation?.placedPort ?? driver.port(of: driver.home)
      // For each hit, so nothing is made for what can only fail at a loop's beginning.
      if port.loop.hasBegun {
        if port.perform(of: id, { _ in NetSpool.Delivery.run(body) }) { return }
        return Self.withoutLoop.async { NetSpool.Delivery.run(body) }
      }
      port.perform(of: id) { _ in
        NetSpool.Delivery.run(body)
      } otherwise: {
        Self.withoutLoop.async { NetSpool.Delivery.run(body) }
      }
    }
  }

  /// Delivers the end of an operation that ended without the loop. Many that end in a row share one hop to the delivery target: those that
  /// end while it delivers go along. The queue is not idle until then.
  func deliverSoon(_ operation: NetworkOperation, _ weight: Int) {
    if driver.isOfParent { return deliverLate { operation.deliverEnd() } }
    let isFetched = ended.add(operation, weight) { driver.retain() }
    if !isFetched { deliverLate { [self] in deliverEnded() } }
  }

  private func deliverEnded() {
    var isBurst = false
    var batch: [NetworkOperation] = []
    for _ in 0..<Self.batchesMax {
      if isBurst { ended.awaitNext() }
      ended.take(into: &batch)
      wakeIfCaughtUp()
      if batch.isEmpty { return driver.release() }
      if batch.count > 1 { isBurst = true }
      for operation in batch { operation.deliverEnd() }
      batch.removeAll(keepingCapacity: true)
    }
    deliverLate { [self] in deliverEnded() }
  }

  /// Then others that have something for the delivery target get their turn.
  private static let batchesMax = 16

  /// Where closures run that belong on a loop thread that is no more: an ending must come all the same.
  private static let withoutLoop = DispatchQueue(label: "netspool.without-loop")
}

/// Operations of one engine that ended without the loop and are not yet delivered.
final class EndedOperations: Sendable {
  private struct State {
    var operations: [NetworkOperation] = []
    var weight = 0
    /// A delivery is on its way to the target, or there.
    var isFetched = false
  }

  private let state = BusyMutex(State())
  private let hasSome = Atomic(false)
  private let undelivered = Atomic(0)

  /// What counts of the engine's final events: those taken last included, until the next are.
  var held: Int { undelivered.load(ordering: .sequentiallyConsistent) }

  /// True when a delivery is on its way already, which takes this one along; else it is about to begin.
  func add(_ operation: NetworkOperation, _ weight: Int, begin: () -> Void) -> Bool {
    state.withLock { state in
      if !state.isFetched { begin() }
      state.operations.append(operation)
      state.weight += weight
      undelivered.store(undelivered.load(ordering: .relaxed) + weight, ordering: .relaxed)
      hasSome.store(true, ordering: .relaxed)
      defer { state.isFetched = true }
      return state.isFetched
    }
  }

  /// Leaves the emptied buffer, all of which has been delivered, in exchange.
  func take(into batch: inout [NetworkOperation]) {
    state.withLock { state in
      swap(&state.operations, &batch)
      state.isFetched = !batch.isEmpty
      undelivered.store(state.weight, ordering: .sequentiallyConsistent)
      state.weight = 0
      hasSome.store(false, ordering: .relaxed)
    }
  }

  /// Where several ended just now the next is a few microseconds away, and to be woken for it costs both threads
  /// more than to look again.
  func awaitNext() {
    for _ in 0..<Self.looksMax where !hasSome.load(ordering: .relaxed) { sched_yield() }
  }

  private static let looksMax = 16
}
