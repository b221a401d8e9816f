/// Has the frozen requests of one store sent, through the engines they belong to, and tells those who wait for them.
/// Loop thread of the queue that opened the store.
final class FrozenDispatcher {
  /// Operations of this process that wait for one request: several when it was asked for several times.
  struct Waiting {
    var operations: [NetworkOperation] = []
    /// What the operation that brought the request knows of it that is not written down; nil when that was one of an
    /// earlier process.
    var secrets: Secrets?
    /// The last answer of the origin.
    var answer: NetworkResponse?
  }

  struct Secrets {
    var headers = Headers()
    var credential: NetworkCredentials?
    var timeouts: NetworkRequest.Timeouts?
  }

  /// An exchange under way, or about to begin.
  struct Attempt {
    let engine: NetworkEngine
    /// Nil while the values of secret fields are asked for.
    var operation: NetworkOperation?
  }

  let freezer: Freezer
  unowned let core: Scheduler
  let spool: FrozenSpool
  var waiting: [FrozenID: Waiting] = [:]
  var attempts: [FrozenID: Attempt] = [:]
  /// Operations whose requests are being written for the first time, by id.
  var accepting: [UInt64: NetworkOperation] = [:]
  /// The requests of the others, by the operation's id.
  var places: [UInt64: FrozenID] = [:]
  /// Operations whose users left before their requests were accepted.
  var unwanted: Set<UInt64> = []
  /// Those who call once there is use in sending.
  var waits: [FrozenID: SendingWait] = [:]
  /// Refused once by the origin's credentials check: asked again with new values.
  var askedAgain: Set<FrozenID> = []
  /// Why the last attempt of each failed, until that is written.
  var lastFailures: [FrozenID: NetworkError] = [:]
  /// Outcomes on their way to their handlers, by the engine whose they are.
  var untold: [FrozenID: NetworkEngine] = [:]
  /// Engines, the newest last.
  var engines: [WeakEngine] = []
  var leaving: [Leaving] = []
  /// Those who wait until nothing is being written or sent.
  var whenStill: [() -> Void] = []
  private var timer: TimerTable.Key?
  private var timerDue = Microseconds.max
  private var isPumping = false
  private var isBusy = false
  var isClosed = false

  struct WeakEngine {
    weak var engine: NetworkEngine?
  }

  init(_ freezer: Freezer, _ core: Scheduler) throws(NetworkError) {
    self.freezer = freezer
    self.core = core
    let (driver, key) = (core.driver, ObjectIdentifier(freezer))
    let world = FrozenSpool.World(
      now: freezer.settings.now, random: { .random(in: 0..<1) },
      post: { notice in
        driver.perform { core in core.dispatchers[key]?.perform { $0.spool.take(notice) } }
      })
    spool = try FrozenSpool(
      freezer.store, policy: freezer.settings.policy, limits: freezer.settings.limits, world: world)
    spool.owner = self
  }

  var count: Int { isClosed ? 0 : spool.count }

  // MARK: Turns

  /// Does something with it, and at the end of the turn what follows from that.
  func perform(_ body: (FrozenDispatcher) -> Void) {
    body(self)
    settleSoon()
  }

  func settleSoon() {
    guard !isPumping else { return }
    isPumping = true
    core.later { [self] in
      isPumping = false
      if !isClosed { settle() }
    }
  }

  private func settle() {
    spool.pump()
    wakeInTime()
    finishLeaving()
    noteActivity()
    if !spool.isMoving { tellStill() }
  }

  private func tellStill() {
    let bodies = whenStill
    whenStill = []
    for body in bodies { body() }
  }

  private func wakeInTime() {
    let due = spool.nextDue ?? .max
    guard due != timerDue else { return }
    core.timers.cancel(timer)
    timer = nil
    timerDue = due
    guard due != .max else { return }
    let wait = min(max(0, due - freezer.settings.now().monotonic), Self.sleepMax)
    timer = core.timers.after(milliseconds: UInt64(wait / 1000) + 1) { [unowned self] in
      timerDue = .max
      timer = nil
      settle()
    }
  }

  /// An hour: a clock that was set shows after that at the latest.
  private static let sleepMax = Microseconds.hour

  /// While requests are written or sent the queue is not idle; while they only wait, it is.
  func noteActivity() {
    let isBusy = !isClosed && spool.isMoving
    if isBusy != self.isBusy {
      self.isBusy = isBusy
      if isBusy { core.driver.hold() } else { core.driver.letGo() }
    }
    core.noteFrozen()
  }

  // MARK: Engines

  func add(_ engine: NetworkEngine) {
    engines.removeAll { $0.engine == nil || $0.engine === engine }
    engines.append(WeakEngine(engine: engine))
    perform { dispatcher in
      dispatcher.spool.thaw()
      dispatcher.offerOutcomes(to: engine)
    }
  }

  func thaw() {
    for wait in waits.values { wait.callOff() }
    waits = [:]
    spool.thaw()
  }

  /// Who sends a request: the engine of the operation that waits for it, else the newest of the same scope.
  func engine(for id: FrozenID, _ request: FrozenRequest) -> NetworkEngine? {
    let own = waiting[id]?.operations.lazy.map(\.engine).first { !$0.isClosedToNew }
    return own
      ?? engines.lazy.compactMap(\.engine).last { engine in
        !engine.isClosedToNew && engine.freezing?.settings.scope == request.scope
      }
  }

  // MARK: The end

  /// The queue closes. Nothing more is sent, and attempts on their way are given back to their lanes.
  func park() {
    guard !isClosed else { return }
    for wait in waits.values { wait.callOff() }
    waits = [:]
    core.timers.cancel(timer)
    let states = attempts.mapValues { sendState($0) }
    spool.park { states[$0] ?? .notSent }
    for case let attempt? in attempts.values.map(\.operation) {
      on(attempt) { core, attempt in core.withdraw(attempt, NetworkError(.engineClosed)) }
    }
    attempts = [:]
    freezer.close()
  }

  /// How far an attempt has come; of one on another loop nothing is known.
  private func sendState(_ attempt: Attempt) -> NetworkError.SendState {
    guard let operation = attempt.operation else { return .notSent }
    guard attempt.engine.driver === core.driver else { return .maybeProcessed }
    return operation.loop.transfer?.sendState ?? .notSent
  }

  /// Everything that the store had to say was heard: what still waits is the next process's.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    for id in Array(waiting.keys) { handOver(id) { _ in true } }
    for operation in accepting.values { end(operation, .failure(NetworkError(.engineClosed))) }
    accepting = [:]
    noteActivity()
    tellStill()
    for leaving in leaving { leaving.done() }
    leaving = []
  }
}
