internal import Synchronization

/// The brain of one queue: it alone knows the queue, the transfers and the operations. Loop thread only.
///
/// One turn: take the commands, let finished transfers go where they lead, admit what may run, let libcurl
/// work, and hand all that happened to user closures in one batch.
final class Scheduler {
  let context: LoopContext
  let driver: QueueDriver
  /// The way to this loop, for other threads.
  let port: LoopPort
  /// The queue has no other loop.
  let isAlone: Bool
  let loop: EventLoop
  let pools: ConnectionPools
  let sinks: SinkServices
  let names: Names
  let cacheSide: CacheSide
  let seats: Seats
  let origins: Origins
  let coalescer: Coalescer
  let exchanges: Exchanges
  let planner = Planner()
  let successors: Successors
  // Safe because the loop thread alone has a scheduler, as its entries assert, and because what is marked here are values
  // whose methods call nobody back.
  /// All that have not ended.
  @safe @exclusivity(unchecked) var operations = OperationTable()
  /// What each engine has filled, and what waits for it.
  @safe @exclusivity(unchecked) var rooms = EngineRooms()
  let timers: TimerTable
  let streamWatch: StreamWatch
  /// Brings a turn for those that wait for room.
  var roomsWatch: TimerTable.Key?
  /// On their way to other loops, from the end of the turn on.
  @safe @exclusivity(unchecked) var departing: [Party] = []
  /// Nil until somebody asks how the network is.
  var connectivity: Connectivity?
  /// Looks at the network for stores of frozen requests, by their numbers, that are not over.
  var frozenLooks: [UInt64: Wait] = [:]
  /// Without anybody who asks: the last look, for failures that the network may be to blame for.
  var lastLook: (link: LinkState, at: Microseconds)?
  var heldLog = HeldLog()

  /// - Parameter timeline: a model's time, in which the scheduler lives instead of the clock's.
  init(port: LoopPort, timeline: Timeline? = nil) throws(NetworkError) {
    self.port = port
    let driver = port.driver
    self.driver = driver
    isAlone = driver.isAlone
    context = try LoopContext(port: port, timeline: timeline)
    (loop, timers) = (context.loop, context.timers)
    names = Names(context)
    cacheSide = CacheSide(context)
    streamWatch = StreamWatch(context)
    sinks = SinkServices(context)
    successors = Successors(context)
    coalescer = Coalescer(context)
    origins = Origins(context)
    exchanges = Exchanges(context)
    let idleMax = origins.settings.connectionsIdleMax
    pools = try ConnectionPools(loop: loop, loops: driver.loops.count, idleMax: idleMax)
    seats = Seats(context, origins.settings)
    context.goOn = { [unowned self] operation, step in
      move(operation, to: .deciding)
      go(operation, from: step)
    }
    context.withdraw = { [unowned self] in withdraw($0, $1) }
    streamWatch.onLate = { [unowned self] in endStalled($0, $1) }
    loop.onTurn = { [unowned self] in turn() }
    loop.onHeld = { [unowned self] holder, time in wasHeld(by: holder, for: time) }
    exchanges.onTick = { [unowned self] in didTick($0) }
    exchanges.onStandstill = { [unowned self] in yieldPlace(of: $0) }
    watchLinkIfNeeded()
  }

  func run() { loop.run() }

  /// After `run`: the handles left open.
  func finish() -> Int { loop.finish() }

  /// Commands, timers and what is done to many. False when the time was over before all was done.
  private func doWork(in whole: Turn) -> Bool {
    context.work.take(from: port.loop.mailbox)
    // While there is much, each thing that an engine wants takes some turns: short ones.
    var turn = context.work.isLong ? whole.shortened() : whole
    while let piece = context.work.next() {
      switch piece {
      case .command(let command):
        perform(command)
        if turn.isOver() { return false }
      case .work(let some):
        if some.doPiece() { context.work.append(some) }
        if turn.isOver(after: Turn.piece) { return false }
      }
    }
    return true
  }

  private func perform(_ command: QueueDriver.Command) {
    switch command {
    case .submit(let operation): if !sendOn(operation) { submit(operation) }
    case .arrive(let party): arrive(party)
    case .cancel(let operation):
      if port.has(operation) { cancel(operation) } else { operation.cancelOnLoop() }
    case .perform(let action, _): action(self)
    }
  }

  /// Until nothing is left to do: only then may the loop sleep, and only then must senders wake it.
  private func turn() {
    var rounds = 0
    var now = MonotonicClock.now
    let turn = Turn(from: now)
    pools.resumePostponed(in: .part(2, from: now))
    repeat {
      let isDone = doWork(in: turn)
      if context.isClosing { return end() }
      now = loop.didHold(.commands, since: now)
      now = goOn(since: now, in: turn)
      context.outbox.flush()
      sendDeparting()
      now = loop.didHold(.closures, since: now)
      rounds += 1
      // Sockets want their turn as well.
      if !isDone || context.work.hasWork || rounds == Self.roundsMax || turn.isOver(at: now) {
        return loop.markDirty()
      }
    } while !port.loop.mailbox.fallAsleep()
  }

  /// Rounds of commands and work before the loop looks at its sockets and timers again.
  private static let roundsMax = 8

  /// A body that comes faster than it can be read is always due: what is left is done in the next turn.
  private func goOn(since began: Microseconds, in turn: Turn) -> Microseconds {
    var now = began
    var hasRun = false
    repeat {
      if hasRun { now = MonotonicClock.now }
      context.runDeferred()
      takeAnswers(in: turn.rest(from: now))
      let haveAllBegun = admit(in: turn.rest(from: MonotonicClock.now))
      now = loop.didHold(.answers, since: now)
      // Once at least: new transfers begin there, however long the others took.
      hasRun = (!hasRun || !turn.isOver(at: now)) && pools.runIfDue() && haveAllBegun
    } while hasRun
    port.loop.running.store(exchanges.running.count, ordering: .relaxed)
    if driver.observers.wantsActivity.load(ordering: .relaxed) {
      driver.observers.tell { driver.activity }
    }
    return now
  }

  /// What follows from transfers that ended.
  private func takeAnswers(in turn: Turn) {
    var turn = turn
    while let (transfer, code) = pools.nextDone() {
      completed(transfer, code: code)
      if turn.isOver() { return loop.markDirty() }
    }
  }

  // MARK: Telling

  /// Changes the state of one that has not ended, and says so if someone listens.
  func set(_ state: NetworkOperation.State, _ operation: NetworkOperation) {
    loop.assertOnLoop()
    let isHeard = operation.shared.withLock { shared in
      guard shared.outcome == nil, shared.state != state else { return false }
      shared.state = state
      return shared.handlers.wantsState
    }
    if isHeard { context.tell(operation, .state(state)) }
  }

  /// Has this loop itself resume what awaits an end, with the others of the turn.
  func resume(_ operation: NetworkOperation, _ weight: Int) {
    loop.assertOnLoop()
    context.outbox.put(.init(operation: operation, event: .awaited(weight)), to: .loopThread, key: 0)
  }

  // MARK: End

  /// A command: the loop closes behind those that came with it.
  func close() {
    loop.assertOnLoop()
    context.isClosing = true
  }

  /// Ends everything that still runs and closes the loop.
  private func end() {
    _ = doWork(in: .endless)
    context.runDeferred()  // operations of the core's own may wait there for their start
    driver.isEnding.store(true, ordering: .releasing)
    let staying = departing
    departing = []
    for party in staying { arrive(party, NetworkError(.engineClosed)) }
    for operation in operations.all(where: isOpen) { withdraw(operation, NetworkError(.engineClosed)) }
    leaveStores()
    for origin in origins.all { origins.endPause(of: origin) }
    context.outbox.flush()
    sinks.worker.stop()
    connectivity?.close()
    pools.close()
    // Those that came too late, and what the worker had still to say.
    for command in port.loop.mailbox.close() { perform(command) }
    endFrozenOperations()
    frozenLooks = [:]
    timers.close()
    sinks.waits.close()
    exchanges.close()
    port.loop.running.store(exchanges.running.count, ordering: .relaxed)
    context.outbox.flush()
    assert(rooms.isEmpty && exchanges.running.isEmpty, "NetSpool: a slot was taken and never given back")
    loop.stop()
  }
}
