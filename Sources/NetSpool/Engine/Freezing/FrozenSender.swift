internal import Synchronization

/// Has the frozen requests of one store sent, through the engines they belong to, and tells the operations that wait for them.
/// The freezer's thread: what concerns an operation is brought to the loop of its own queue.
final class FrozenSender {
  /// Operations of this process that wait for one request: several when it was asked for several times.
  struct Waiting {
    var operations: [NetworkOperation] = []
    /// What the first of them knows of the request that is not written down; nil when the only one was in an
    /// earlier process.
    var secrets: Secrets?
    /// The last answer of the origin.
    var answer: NetworkResponse?
  }

  struct Secrets {
    var headers = Headers()
    /// Its account, limits and policies.
    var settings = NetworkRequest(url: "")
  }

  /// An exchange under way, or about to begin.
  struct Attempt {
    let engine: NetworkEngine
    /// Nil while the values of secret fields are asked for.
    var operation: NetworkOperation?
  }

  let freezer: Freezer
  let spool: FrozenSpool
  var waiting: [FrozenID: Waiting] = [:]
  var attempts: [FrozenID: Attempt] = [:]
  /// Operations whose requests are being written for the first time, by id.
  var accepting: [UInt64: NetworkOperation] = [:]
  /// The requests of the others, by the operation's id.
  var places: [UInt64: FrozenID] = [:]
  /// Operations whose users left before their requests were accepted.
  var unwanted: Set<UInt64> = []
  /// What is known of the ways to the origins.
  var ways: [Way: Outlook] = [:]
  /// Refused once by the origin's credentials check: asked again with new values.
  var askedAgain: Set<FrozenID> = []
  /// Why the last attempt of each failed, until that is written.
  var lastFailures: [FrozenID: NetworkError] = [:]
  /// Endings on their way to their handlers, or whose handlers have returned and that are not yet acknowledged on the
  /// disk, by the engine whose they are.
  var undelivered: [Ending: NetworkEngine] = [:]
  /// From this one on there may be outcomes that were offered to no handler yet; nil: there are none.
  var unoffered: FrozenID?
  /// Engines, the newest last.
  var engines: [WeakEngine] = []
  private var known: Set<UInt64> = []
  var leaving: [Leaving] = []
  /// What is to be done once nothing is being written or sent.
  var whenStill: [() -> Void] = []
  /// The requests that engines have given up, revived or forgotten, until that is on the disk: none is left before.
  var owed: [FrozenID: NetworkEngine] = [:]
  /// Queues that are not idle while one of their requests is being sent.
  var working: [FrozenID: QueueDriver] = [:]
  /// Queues that are not idle until they have heard what this turn has to say, each as often as it is held.
  private var retainedForTurn: [ObjectIdentifier: (driver: QueueDriver, times: Int)] = [:]
  /// The engines' queues, and how many requests each was told of.
  private var queues: [ObjectIdentifier: (driver: QueueDriver, counted: Int)] = [:]

  /// A request that was revived may have several, one after the other.
  struct Ending: Hashable {
    let id: FrozenID
    /// Nil: it has an outcome.
    var diedWall: Microseconds?
  }

  struct WeakEngine {
    weak var engine: NetworkEngine?
  }

  init(_ freezer: Freezer) {
    self.freezer = freezer
    let world = FrozenSpool.World(now: freezer.settings.now, random: { .random(in: 0..<1) })
    spool = FrozenSpool(freezer.store, policy: freezer.settings.policy, world: world)
    spool.owner = self
  }

  // MARK: Turns

  /// The end of a turn: does what follows from it, and waits for the disk if that is to be written. What may be sent now is
  /// recorded in the same commit; what may be sent after it has the next turn, which begins at once. Returns the callbacks of
  /// engines that have left.
  func endTurn() -> [() -> Void] {
    spool.pump()
    spool.write()
    let left = finishLeaving()
    spool.pump()
    releaseOfTurn()
    tellCounts()
    if isStill { tellStill() }
    return left
  }

  private var isStill: Bool { !spool.isMoving && !ways.values.contains { $0.state == .asked } }

  private func tellStill() {
    let bodies = whenStill
    whenStill = []
    for body in bodies { body() }
  }

  // MARK: Queues

  /// A queue is not idle while a request of it is being sent; while it only waits on the disk, it is.
  func retain(_ driver: QueueDriver, for id: FrozenID) {
    if working[id] === driver { return }
    release(id)
    working[id] = driver
    driver.retain()
  }

  func release(_ id: FrozenID) {
    if let driver = working.removeValue(forKey: id) { releaseAfterTurn(driver) }
  }

  func retainForTurn(_ driver: QueueDriver) {
    driver.retain()
    releaseAfterTurn(driver)
  }

  private func releaseAfterTurn(_ driver: QueueDriver) {
    retainedForTurn[ObjectIdentifier(driver), default: (driver, 0)].times += 1
  }

  /// Behind everything that was sent to their loops.
  private func releaseOfTurn() {
    for (driver, times) in retainedForTurn.values {
      driver.performEverywhere { _ in
      } done: {
        driver.release(times)
      }
    }
    retainedForTurn.removeAll(keepingCapacity: true)
  }

  private func tellCounts() {
    let count = spool.count
    for (key, queue) in queues where queue.counted != count {
      queue.driver.frozen.add(count - queue.counted, ordering: .relaxed)
      queues[key]?.counted = count
    }
  }

  /// Forgets engines that are gone, and the queues that no engine has any more. Others may know another way for what waited for
  /// those.
  func noteEngines() {
    engines.removeAll { $0.engine == nil }
    let gone = known
    known = Set(engines.compactMap { $0.engine?.id })
    if !known.isSuperset(of: gone) {
      callOffWays { !self.known.contains($0.engine) }
      spool.releaseHeld()
    }
    let drivers = engines.compactMap { $0.engine?.driver }
    for (key, queue) in queues where !drivers.contains(where: { $0 === queue.driver }) {
      queue.driver.frozen.subtract(queue.counted, ordering: .relaxed)
      queue.driver.forget(freezer)
      queues[key] = nil
    }
    for driver in drivers where queues[ObjectIdentifier(driver)] == nil {
      queues[ObjectIdentifier(driver)] = (driver, 0)
      driver.remember(freezer)
    }
  }

  // MARK: Engines

  func add(_ engine: NetworkEngine) {
    // Its queue has said already that it leaves.
    if engine.driver.isEnding.load(ordering: .acquiring) { return engine.freezing?.end() ?? () }
    engines.removeAll { $0.engine === engine }
    engines.append(WeakEngine(engine: engine))
    noteEngines()
    thaw()
    offerEndings(to: engine)
  }

  func remove(where matches: (NetworkEngine) -> Bool) {
    for case let engine? in engines.map(\.engine) where matches(engine) {
      engine.freezing?.end()
    }
    engines.removeAll { $0.engine.map(matches) ?? true }
    noteEngines()
  }

  func thaw() {
    callOffWays()
    spool.thaw()
  }

  /// Returns the engine that sends a request: that of the operation that waits for it, else the newest of the same scope.
  func engine(for id: FrozenID, _ request: FrozenRequest) -> NetworkEngine? {
    let own = waiting[id]?.operations.lazy.map(\.engine).first { $0.maySendFrozen }
    return own
      ?? engines.lazy.compactMap(\.engine).last { engine in
        engine.maySendFrozen && engine.freezing?.scope == request.scope
      }
  }

  // MARK: The end

  /// Stops when no engine uses the store any more: nothing is sent then, and attempts on their way go back to their lanes, which
  /// is on the disk when this returns.
  func park() {
    callOffWays()
    // Of those that have not ended by now nothing is known.
    let unsent = Set(attempts.filter { $0.value.operation == nil }.keys)
    spool.park { unsent.contains($0) ? .notSent : .maybeProcessed }
    for id in Array(attempts.keys) { abort(id) }
    spool.finish()
  }

  /// Everything that the store had to say was heard: what still waits is the next process's.
  func close() {
    for id in Array(waiting.keys) { handOver(id) { _ in true } }
    for operation in accepting.values { end(operation, .failure(NetworkError(.engineClosed))) }
    accepting = [:]
    for id in Array(working.keys) { release(id) }
    releaseOfTurn()
    engines = []
    noteEngines()
    tellStill()
    for leaving in leaving { leaving.done() }
    leaving = []
  }
}

extension NetworkEngine {
  /// Neither the engine nor its queue is about to end.
  fileprivate var maySendFrozen: Bool { !isClosed && !driver.isEnding.load(ordering: .acquiring) }
}
