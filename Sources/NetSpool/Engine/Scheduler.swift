internal import Synchronization

/// The brain of one queue: it alone knows the queue, the transfers and the operations. Loop thread only.
///
/// One turn: take the commands, let finished transfers go where they lead, admit what may run, let libcurl
/// work, and hand all that happened to user closures in one batch.
final class Scheduler {
  let context: LoopContext
  let loop: EventLoop
  let sinks: SinkServices
  let names: Names
  let cacheSide: CacheSide
  let seats: Seats
  let origins: Origins
  let coalescer: Coalescer
  let starter: Starter
  let successors: Successors
  let connectivity: Connectivity
  // Safe because the loop thread alone has a scheduler, as its entries assert, and because a list calls nobody back.
  /// All that have not ended.
  @safe @exclusivity(unchecked) var operations = OperationTable()

  /// The way to this loop, for other threads.
  var port: LoopPort { context.port }
  var driver: QueueDriver { context.port.driver }
  var timers: TimerTable { context.timers }

  /// - Parameter timeline: a model's time, in which the scheduler lives instead of the clock's.
  init(port: LoopPort, timeline: Timeline? = nil) throws(NetworkError) {
    context = try LoopContext(port: port, timeline: timeline)
    loop = context.loop
    names = Names(context)
    cacheSide = CacheSide(context)
    sinks = SinkServices(context)
    successors = Successors(context)
    coalescer = Coalescer(context)
    let origins = Origins(context)
    self.origins = origins
    seats = Seats(context, origins.settings)
    starter = try Starter(context, idleMax: origins.settings.connectionsIdleMax) { multi in
      for origin in origins.all { origin.idle.drop(of: multi) }
    }
    connectivity = Connectivity(context, origins, starter.pools)
    context.goOn = { [unowned self] operation, step in
      move(operation, to: .deciding)
      go(operation, from: step)
    }
    context.withdraw = { [unowned self] in withdraw($0, $1) }
    seats.onTick = { [unowned self] in didTick($0) }
    seats.onStandstill = { [unowned self] in yieldPlace(of: $0) }
    loop.onTurn = { [unowned self] in turn() }
    var held = HeldLog()
    loop.onHeld = { [unowned self] holder, time in held.note(holder, for: time, seats.running, driver) }
    connectivity.onBack = { [unowned self] in restartConnecting() }
  }

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
    case .submit(let operation): submit(operation)
    case .cancel(let operation): cancel(operation)
    case .perform(let action, _): action(self)
    }
  }

  /// Until nothing is left to do: only then may the loop sleep, and only then must senders wake it.
  private func turn() {
    var rounds = 0
    var now = MonotonicClock.now
    let turn = Turn(from: now)
    starter.pools.resumePostponed(in: .part(2, from: now))
    repeat {
      let isDone = doWork(in: turn)
      if context.isClosing { return end() }
      now = loop.didHold(.commands, since: now)
      now = goOn(since: now, in: turn)
      context.outbox.flush()
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
      hasRun = (!hasRun || !turn.isOver(at: now)) && starter.pools.runIfDue() && haveAllBegun
    } while hasRun
    port.loop.running.store(seats.running.count, ordering: .relaxed)
    if driver.observers.wantsActivity.load(ordering: .relaxed) { driver.observers.tell { driver.activity } }
    return now
  }

  /// What follows from transfers that ended.
  private func takeAnswers(in turn: Turn) {
    var turn = turn
    while let (transfer, code) = starter.pools.nextDone() {
      completed(transfer, code: code)
      if turn.isOver() { return loop.markDirty() }
    }
  }

  /// What the loop knows, for people.
  func snapshot() -> NetworkQueue.Snapshot {
    loop.assertOnLoop()
    let all = origins.snapshots(starter.pools.connections()) { connectivity.health(of: $0) }
    return NetworkQueue.Snapshot(activity: driver.activity, origins: all)
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
    for operation in operations.all(where: isOpen) { withdraw(operation, NetworkError(.engineClosed)) }
    leaveStores()
    for origin in origins.all { origins.endPause(of: origin) }
    context.outbox.flush()
    sinks.worker.stop()
    connectivity.close()
    starter.pools.close()
    // Those that came too late, and what the worker had still to say.
    for command in port.loop.mailbox.close() { perform(command) }
    // What they have begun for many ends here: who waits for it hears of it.
    _ = doWork(in: .endless)
    // The stores have said all they had to say to this queue.
    for operation in operations.all() { giveUpFrozen(operation) }
    timers.close()
    sinks.waits.close()
    seats.close()
    port.loop.running.store(seats.running.count, ordering: .relaxed)
    context.outbox.flush()
    assert(seats.rooms.isEmpty && seats.running.isEmpty, "NetSpool: a slot was taken and never given back")
    loop.stop()
  }
}
