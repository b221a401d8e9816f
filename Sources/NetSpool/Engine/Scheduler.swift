internal import Synchronization

/// The brain of one queue: it alone knows the queue, the transfers and the operations. Loop thread only.
///
/// One turn: take the commands, let finished transfers go where they lead, admit what may run, let libcurl
/// work, and hand all that happened to user closures in one batch.
final class Scheduler {
  let driver: QueueDriver
  /// The way to this loop, for other threads.
  let port: LoopPort
  /// The queue has no other loop.
  let isAlone: Bool
  /// The places of all loops; nil where this one has them.
  let width: SharedWidth?
  let loop: EventLoop
  let pools: ConnectionPools
  let worker: Worker
  let buffers = AlignedBufferPool()
  let devices = FileDevices()
  let spoolMemory: SpoolRoom
  let waits: WriteWaits
  var names = NameResolver.shared
  let outbox: Outbox<Delivery>
  // Safe because the loop thread alone has a scheduler, as its entries assert, and because what is marked here are values
  // whose methods call nobody back. `origins` does, and is checked.
  @safe @exclusivity(unchecked) var queue = AdmissionQueue<NetworkOperation>()
  var origins = OriginTable()
  /// Of proxies, and of what callers say; see `name(for:at:)`.
  var otherNames: [String: OriginName] = [:]
  /// A count of its own: the table is busy while it makes one.
  var originsKnown = 0 { didSet { port.loop.originsKnown.store(originsKnown, ordering: .relaxed) } }
  /// With so many origins, those that are idle are forgotten.
  var originsMax: Int { didSet { port.loop.originsMax.store(originsMax, ordering: .relaxed) } }
  var isRetiring = false
  @safe @exclusivity(unchecked) var coalescer = Coalescer()
  /// By the digest of what is asked about.
  @safe @exclusivity(unchecked) var validations: [KeyDigest: Validation] = [:]
  var claims = ClaimWaits()
  var authenticator = Authenticator()
  var repetition = Repetition()
  var cacheBridge = CacheBridge()
  /// All that have not ended.
  @safe @exclusivity(unchecked) var operations = OperationTable()
  /// When the last came, a little later than the one before.
  var lastSubmittedAt: Microseconds = 0
  @safe @exclusivity(unchecked) var running: [Transfer] = []
  /// Engines that wait and have nothing under way, and places that were lent to such.
  var starved = 0
  var lent = 0
  /// Transfers made since admission began.
  var newTransfers = 0
  /// Places that this loop has waited for and been given, until somebody has had a chance to fill them.
  var placesGranted = 0
  /// How many of them the process has descriptors for.
  @safe @exclusivity(unchecked) var descriptors = DescriptorWidth()
  /// What each engine has filled, and what waits for it.
  @safe @exclusivity(unchecked) var rooms = EngineRooms()
  var settings: NetworkQueue.Configuration
  var tick: LoopTimer?
  var isClosing = false
  let timers: TimerTable
  /// When streams that take nothing are looked at next; 0: from this turn on.
  var readersWatch: TimerTable.Key?
  /// Operations that wait for their streams, by their ids, and when they are looked at next.
  var watched: [UInt64: NetworkOperation] = [:]
  var streamsWatch: TimerTable.Key?
  /// Brings a turn for those that wait for room.
  var roomsWatch: TimerTable.Key?
  /// What libcurl's callbacks noted, to be done when libcurl is not at work.
  @safe @exclusivity(unchecked) var deferred: [() -> Void] = []
  /// On their way to other loops, from the end of the turn on.
  var departing: [Party] = []
  var ticks = 0
  /// Nil until somebody asks how the network is.
  var connectivity: Connectivity?
  /// Looks at the network for stores of frozen requests, by their numbers, that are not over.
  var frozenLooks: [UInt64: Wait] = [:]
  /// Without anybody who asks: the last look, for failures that the network may be to blame for.
  var lastLook: (link: LinkState, at: Microseconds)?
  var heldLog = HeldLog()
  @safe @exclusivity(unchecked) private var commands = CommandLines()
  @safe @exclusivity(unchecked) private var bulks = FIFO<Bulk>()

  struct Delivery: Sendable {
    let operation: NetworkOperation
    let event: NetworkOperation.Notice
  }

  /// - Parameter timeline: a model's time, in which the scheduler lives instead of the clock's.
  init(port: LoopPort, timeline: Timeline? = nil) throws(NetworkError) {
    self.port = port
    let driver = port.driver
    self.driver = driver
    isAlone = driver.isAlone
    width = driver.width
    originsMax = port.loop.originsMax.load(ordering: .relaxed)
    loop = try EventLoop(mailbox: port.loop.mailbox, watch: port.loop.watch, timeline: timeline)
    pools = try ConnectionPools(loop: loop, loops: driver.loops.count)
    timers = TimerTable(loop: loop)
    waits = WriteWaits(loop: loop)
    spoolMemory = SpoolRoom(bytesMax: BodySpool.memoryMax / driver.loops.count)
    worker = Worker(
      budgets: driver.fileWrites, threadsMax: max(1, driver.fileWrites.heldMax / driver.loops.count),
      notify: { completion in port.perform(of: QueueDriver.Command.house) { _ in completion() } })
    settings = driver.settings.withLock { $0 }
    outbox = Outbox { delivery in
      delivery.operation.deliver(delivery.event)
      switch delivery.event {
      case .final(let weight), .awaited(let weight): delivery.operation.engine.didDeliver(weight)
      case .frozen: driver.decrement()  // it waits on the disk, and the queue not for it
      default: break
      }
    }
    // Of several loops each takes what it needs.
    queue.maximumConcurrent = isAlone ? settings.maximumConcurrent : 0
    if !isAlone { queue.maximumAside = .max }
    queue.isSuspended = settings.isSuspended
    loop.onTurn = { [unowned self] in turn() }
    loop.onHeld = { [unowned self] holder, time in wasHeld(by: holder, for: time) }
    tick = LoopTimer(on: loop) { [unowned self] in didTick() }
    watchLinkIfNeeded()
  }

  func run() { loop.run() }

  /// After `run`: the handles left open.
  func finish() -> Int { loop.finish() }

  /// Timers, bulks and commands, each with its share of the time: none of them waits for all of the others. False when
  /// the time was over before all was done.
  private func takeCommands(until deadline: Microseconds) -> Bool {
    let haveTimersRun = timers.run(until: deadline - 2 * Self.turnMax / 3)
    let areBulksDone = doBulks(until: deadline - Self.turnMax / 3)
    commands.take(from: port.loop.mailbox)
    // While there are many, each thing that another engine wants takes some turns: short ones.
    let deadline = commands.areMany ? min(deadline, MonotonicClock.now + Self.turnMax / 4) : deadline
    var count = 0
    while let command = commands.next() {
      perform(command)
      count += 1
      // A small one is done before the next command, as it was asked for.
      if !bulks.isEmpty, areBulksDone { _ = doBulks(until: deadline) }
      if count % 8 == 0, MonotonicClock.now >= deadline { return false }
    }
    return haveTimersRun && bulks.isEmpty
  }

  private func perform(_ command: QueueDriver.Command) {
    switch command {
    case .submit(let operation): if isAlone || belongs(operation) { submit(operation) }
    case .arrive(let party): arrive(party)
    case .cancel(let operation): if has(operation) { cancel(operation) } else { operation.cancelOnLoop() }
    case .perform(let action, _): action(self)
    }
  }

  // MARK: Many at once

  /// Something that is to be done for many operations. Not the closure itself: each time one goes through a generic list
  /// Swift wraps it once more.
  struct Bulk {
    /// Does a piece of it; answers whether more is left.
    let doPiece: () -> Bool
  }

  /// So many are done before somebody looks at the clock.
  static let bulkPiece = 8

  /// Does something for many, some of them in each turn, and so in turn with other bulks: nobody waits for all.
  func forEach<Each>(of all: [Each], _ body: @escaping (Each) -> Void) {
    loop.assertOnLoop()
    if all.isEmpty { return }
    var left = all[...]
    doInPieces {
      for each in left.prefix(Self.bulkPiece) { body(each) }
      left = left.dropFirst(Self.bulkPiece)
      return !left.isEmpty
    }
  }

  func doInPieces(_ doPiece: @escaping () -> Bool) {
    loop.assertOnLoop()
    bulks.append(Bulk(doPiece: doPiece))
    loop.markDirty()
  }

  /// False when the time was over before all was done.
  private func doBulks(until deadline: Microseconds) -> Bool {
    while let bulk = bulks.popFirst() {
      if bulk.doPiece() { bulks.append(bulk) }
      if MonotonicClock.now >= deadline { return bulks.isEmpty }
    }
    return true
  }

  /// Until nothing is left to do: only then may the loop sleep, and only then must senders wake it.
  private func turn() {
    var rounds = 0
    var now = MonotonicClock.now
    let deadline = now + Self.turnMax
    pools.resumePostponed(until: deadline - Self.turnMax / 2)
    repeat {
      let hasTakenAll = takeCommands(until: deadline)
      if isClosing { return end() }
      now = loop.didHold(.commands, since: now)
      now = work(since: now, until: deadline)
      outbox.flush()
      sendDeparting()
      now = loop.didHold(.closures, since: now)
      rounds += 1
      // Sockets want their turn as well.
      if !hasTakenAll || !bulks.isEmpty || rounds == Self.roundsMax || now >= deadline {
        return loop.markDirty()
      }
    } while !port.loop.mailbox.fallAsleep()
  }

  /// Rounds of commands and work before the loop looks at its sockets and timers again, and how long they may take.
  private static let roundsMax = 8
  private static let turnMax: Microseconds = 4_000

  /// A body that comes faster than it can be read is always due: what is left is done in the next turn.
  private func work(since began: Microseconds, until deadline: Microseconds) -> Microseconds {
    var now = began
    var hasRun = false
    repeat {
      if hasRun { now = MonotonicClock.now }
      runDeferred()
      // Each has a share, however long the commands took.
      takeAnswers(until: max(deadline, now + Self.turnMax / 4))
      let haveAllBegun = admit(until: max(deadline, MonotonicClock.now + Self.turnMax / 4))
      now = loop.didHold(.answers, since: now)
      // Once at least: new transfers begin there, however long the others took.
      hasRun = (!hasRun || now < deadline) && pools.runIfDue() && haveAllBegun
    } while hasRun
    port.loop.running.store(running.count, ordering: .relaxed)
    if driver.observers.wantsActivity.load(ordering: .relaxed) {
      driver.observers.tell { driver.activity }
    }
    return now
  }

  /// What follows from transfers that ended.
  private func takeAnswers(until deadline: Microseconds) {
    var count = 0
    while let (transfer, code) = pools.nextDone() {
      completed(transfer, code: code)
      count += 1
      if count % 8 == 0, MonotonicClock.now >= deadline { return loop.markDirty() }
    }
  }

  func later(_ body: @escaping () -> Void) {
    loop.assertOnLoop()
    deferred.append(body)
    loop.markDirty()
  }

  private func runDeferred() {
    while !deferred.isEmpty {
      let ready = deferred
      deferred = []
      for body in ready { body() }
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
    if isHeard { tell(operation, .state(state)) }
  }

  func tell(_ operation: NetworkOperation, _ event: NetworkOperation.Notice) {
    outbox.put(
      Delivery(operation: operation, event: event), to: operation.engine.target, key: operation.engine.id)
  }

  /// Has this loop itself resume what awaits an end, with the others of the turn.
  func resume(_ operation: NetworkOperation, _ weight: Int) {
    loop.assertOnLoop()
    outbox.put(Delivery(operation: operation, event: .awaited(weight)), to: .loopThread, key: 0)
  }

  // MARK: End

  /// A command: the loop closes behind those that came with it.
  func close() {
    loop.assertOnLoop()
    isClosing = true
  }

  /// Ends everything that still runs and closes the loop.
  private func end() {
    while let command = commands.next() { perform(command) }
    _ = doBulks(until: .max)
    runDeferred()  // operations of the core's own may wait there for their start
    driver.isEnding.store(true, ordering: .releasing)
    keepDeparting()
    endAll(NetworkError(.engineClosed))
    leaveStores()
    for origin in origins.all { endPause(of: origin) }
    outbox.flush()
    worker.stop()
    connectivity?.close()
    pools.close()
    // Those that came too late, and what the worker had still to say.
    for command in port.loop.mailbox.close() { perform(command) }
    endFrozenOperations()
    frozenLooks = [:]
    timers.close()
    waits.close()
    tick?.close()
    tick = nil
    port.loop.running.store(running.count, ordering: .relaxed)
    outbox.flush()
    assert(rooms.isEmpty && running.isEmpty, "NetSpool: a slot was taken and never given back")
    loop.stop()
  }
}
