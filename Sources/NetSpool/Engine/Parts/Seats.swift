/// The exchanges under way, and the right to another: places of the queue (this loop's own, and its part of those of a queue
/// with several loops), descriptors of the process, and rooms of the engines. Says whose turn it is, and whose exchange makes
/// room for another's. Loop thread.
final class Seats {
  // Safe because the loop thread alone has it, as `Scheduler.move` asserts, and these are values that call nobody back.
  @safe @exclusivity(unchecked) private(set) var running: [Transfer] = []
  /// The number of exchanges that the process has descriptors for.
  @safe @exclusivity(unchecked) private var descriptors = DescriptorWidth()
  /// The streams and final events of each engine, and what waits for them.
  @safe @exclusivity(unchecked) var rooms = EngineRooms()
  /// What each engine has waiting in the queue.
  @safe @exclusivity(unchecked) private var lines = EngineLines()
  /// Exchanges that were paused and wait to go on; at so many those that have left are forgotten.
  private var goingOn: [Ticket] = []
  private var goingOnMax = 64
  /// The places of all loops; nil where this one has them.
  private let width: SharedWidth?
  /// Engines that wait and have nothing under way, and places that were lent to such.
  private(set) var starved = 0
  private(set) var lent = 0
  /// Places that this loop has waited for and been given, until an operation has had a chance to fill them.
  private var placesGranted = 0
  /// Twenty times a second while anything runs, and once more.
  private var timer: LoopTimer?
  private var ticks = 0
  /// Brings a turn for those that wait for room.
  private(set) var roomsWatch: TimerTable.Key?
  /// The next look at streams that take nothing; 0: from this turn on.
  private var readersWatch: TimerTable.Key?
  private let context: LoopContext
  /// An exchange that has had no answer for so long makes room for others.
  var silence: Microseconds = 1_000_000
  /// Called with the number of the tick.
  var onTick: (Int) -> Void = { _ in }
  /// Told of an exchange whose streams have taken nothing for a while.
  var onStandstill: (Transfer) -> Void = { _ in }

  init(_ context: LoopContext, _ settings: NetworkQueue.Configuration) {
    self.context = context
    width = context.port.driver.width
    // Of several loops each takes what it needs.
    context.queue.maximumConcurrent = width == nil ? settings.maximumConcurrent : 0
    if width != nil { context.queue.maximumAside = .max }
    context.queue.isSuspended = settings.isSuspended
    timer = LoopTimer(on: context.loop) { [unowned self] in
      if running.isEmpty { timer?.stop() }
      ticks += 1
      onTick(ticks)
    }
  }

  func close() {
    timer?.close()
    timer = nil
  }

  // MARK: Turns

  /// Before others begin: stored bodies that have room go out, and those that may have room now are the next again.
  func beginTurns() {
    // Streams have buffers, so only so many stored bodies of an engine go out at once.
    while let next = rooms.nextPlayback() { next.goOn() }
    countDescriptors()
    keepTurns()
    for wait in rooms.takeReady().reversed() { wait.goOn() }
  }

  /// The next whose turn it is. Unless the queue closes, exchanges that have run for long enough may have to make room.
  func next() -> NetworkOperation? {
    guard running.count < descriptors.width else { return nil }
    if let next = nextInQueue() { return next }
    return context.isClosing ? nil : nextWithAnotherPlace() ?? nextWithLentPlace()
  }

  /// Looks each time at how few places are left: one may have been lent or taken just now.
  private func nextInQueue() -> NetworkOperation? {
    context.queue.isForFirstOnly = isCrowded
    if context.queue.isForFirstOnly, context.queue.lacksFirst {
      // What goes on needs no more than it has.
      goingOn.removeAll { !context.queue.isWaiting($0) }
      for ticket in goingOn.reversed() { context.queue.letGoFirst(ticket) }
      if starvedEngines > 0 {
        for ticket in lines.firstOfStarved(in: context.queue) { context.queue.letGoFirst(ticket) }
      }
    }
    return context.queue.next()?.element
  }

  /// Brings another turn for those that wait for room, where nothing else does.
  func lookAgain() {
    if rooms.hasReady { return context.loop.markDirty() }
    let isAlone = width == nil
    // Where another loop has the place or the room that it waits for, nothing here tells of it.
    guard roomsWatch == nil,
      rooms.hasPatient || isAnyStarved
        || !isAlone && (context.queue.count > 0 && isHeldBack || rooms.waitForStreams)
    else { return }
    roomsWatch = context.timers.after(milliseconds: Self.roomsMilliseconds) { [unowned self] in
      roomsWatch = nil
      if !isAlone { rooms.lookAtStreams() }
    }
  }

  private static let roomsMilliseconds: UInt64 = 20

  /// Where an operation waits whose engine has no room for it: others of the same origin may go.
  func roomList(_ operation: NetworkOperation) -> WaitList? {
    let hasRoom = operation.engine.checkRoomToDeliver()
    let mayStream = operation.loop.hasStreams || operation.loop.waitersLeft > 0
    if hasRoom,
      !mayStream || operation.loop.transfer != nil || rooms.hasRoomForStreams(operation.engine)
        || !operation.streamsAnswer
    {
      return nil
    }
    return rooms.list(of: operation.engine, forStreams: hasRoom)
  }

  /// The wait of one whose engine starts nothing new, as its closures are behind.
  func deliveryWait(_ operation: NetworkOperation, then next: Step) -> Wait? {
    if operation.engine.checkRoomToDeliver() { return nil }
    return Wait(.room, in: rooms.list(of: operation.engine, forStreams: false), then: next)
  }

  // MARK: Under way

  func enter(_ operation: NetworkOperation) {
    guard let transfer = operation.loop.transfer else { return }
    seat(operation.engine, running: 1)
    transfer.exchange.isJudged = true
    transfer.exchange.slot = running.count
    running.append(transfer)
    if timer?.isActive == false { timer?.start(milliseconds: 50, repeating: 50) }
  }

  /// Gives the slot back; what the origin's width learns of it is told where it is known how it went.
  func leave(_ operation: NetworkOperation) {
    if let transfer = operation.loop.transfer {
      remove(transfer)
      comeBack(transfer)
      if transfer.exchange.hasYielded {
        transfer.exchange.hasYielded = false
        return rooms.giveStreams(operation.engine)
      }
      seat(operation.engine, running: -1)
    }
    if let origin = operation.loop.origin { context.queue.finished(origin.id) }
  }

  private func remove(_ transfer: Transfer) {
    let last = running.removeLast()
    if last !== transfer {
      running[transfer.exchange.slot] = last
      last.exchange.slot = transfer.exchange.slot
    }
    transfer.exchange.slot = -1
  }

  /// Looks again how many may be under way, when something waits. A model has no descriptors.
  private func countDescriptors() {
    guard context.queue.count > 0, context.loop.timeline == nil,
      descriptors.wantsCount(running: running.count, now: MonotonicClock.now)
    else { return }
    var unopened = 0
    for transfer in running where transfer.exchange.fanout != nil && transfer.exchange.head == nil {
      unopened += DescriptorWidth.perExchange - 1
    }
    let free = DescriptorRoom.free()
    descriptors.count(
      free: free == .max ? free : free / context.port.driver.loops.count, limit: DescriptorRoom.limit,
      running: running.count, unopened: unopened, now: MonotonicClock.now)
  }

  /// True when others under way have descriptors that will be free: one that found none waits for its turn like any other.
  func didLackDescriptors() -> Bool {
    if context.isClosing || running.isEmpty { return false }
    descriptors.didFail(running: running.count, now: MonotonicClock.now)
    return true
  }

  // MARK: Readers that do not read

  /// Looks soon at exchanges that are paused for their streams, as one has just been. In the middle of libcurl's work.
  func watchReaders() {
    guard readersWatch == nil else { return }
    readersWatch = 0
    context.later { [unowned self] in lookAtReaders() }
  }

  /// Tells of those that take nothing from one look to the next, and one more. Not at once: a stream that keeps up pauses now
  /// and then.
  private func lookAtReaders() {
    readersWatch = context.timers.after(milliseconds: Self.readersMilliseconds) { [unowned self] in
      readersWatch = nil
      for transfer in running where transfer.isPausedByReader && !transfer.exchange.hasYielded {
        transfer.exchange.looksPaused += 1
        if transfer.exchange.looksPaused >= 2 { onStandstill(transfer) } else { watchReaders() }
      }
    }
  }

  /// Twice that is how long others may have to wait for its place, and little beside the 50 ms that are promised.
  private static let readersMilliseconds: UInt64 = 15

  /// A transfer that only waits for its streams keeps its connection, and no place that others want.
  func yieldPlace(of transfer: Transfer, _ engine: NetworkEngine, at origin: Origin) {
    comeBack(transfer)
    transfer.exchange.hasYielded = true
    transfer.exchange.isJudged = false
    context.queue.finished(origin.id)
    seat(engine, running: -1)
    rooms.takeStreams(engine)
    context.loop.markDirty()
  }

  /// Has the transfer go on once its streams take more: at once, and those that came meanwhile end first before others begin.
  func heedStreams(of transfer: Transfer) {
    transfer.exchange.fanout?.onRoom = { [unowned self, weak transfer] in
      guard let transfer else { return }
      takePlaceAgain(transfer)
      transfer.resumeByReader()
    }
  }

  private func takePlaceAgain(_ transfer: Transfer) {
    guard transfer.exchange.hasYielded, let operation = transfer.exchange.owner as? NetworkOperation,
      let origin = operation.loop.origin
    else { return }
    transfer.exchange.hasYielded = false
    context.queue.goesOn(origin.id)
    seat(operation.engine, running: 1)
    rooms.giveStreams(operation.engine)
  }

  // MARK: Making room

  /// Origins that are silent must not keep others waiting.
  func letOthersPass(now: Microseconds) {
    guard isHeldUp else { return }
    for transfer in running where transfer.isSilent(for: silence, now: now) && !transfer.exchange.standsAside
    {
      guard standAside(transfer) else { break }
    }
    // Of several loops, one that has places may have nobody who waits.
    if lendPlaces(now: now) { context.loop.markDirty() }
  }

  /// Engines that have nothing under way get a place each, whatever others do with theirs: who has had his for some
  /// milliseconds lends it. Not at once, for exchanges that are short end by then. True when some did.
  private func lendPlaces(now: Microseconds) -> Bool {
    let wanted = starvedEngines
    var left = wanted
    for transfer in running where left > 0 && isHeldUp && transfer.mayLendPlace(now: now) {
      guard standAside(transfer) else { break }
      transfer.exchange.lendsPlace = true
      lend(1)
      left -= 1
    }
    return left < wanted
  }

  /// Engines that wait and have nothing under way, on all loops.
  private var starvedEngines: Int { width?.starved ?? starved }

  /// An engine has nothing under way, and others have all places.
  private var isAnyStarved: Bool { isHeldUp && starvedEngines > 0 }

  /// An operation might start but for the queue's width.
  private var isHeldUp: Bool { context.queue.isHeldUp || width?.isWanted ?? false }

  private func standAside(_ transfer: Transfer) -> Bool {
    if let width, !width.standAside() { return false }
    guard context.queue.standAside() else {
      width?.comeBack()
      return false
    }
    transfer.exchange.standsAside = true
    return true
  }

  private func comeBack(_ transfer: Transfer) {
    guard transfer.exchange.standsAside else { return }
    if transfer.exchange.lendsPlace { lend(-1) }
    transfer.exchange.standsAside = false
    transfer.exchange.lendsPlace = false
    context.queue.comeBack()
    width?.comeBack()
  }

  private func lend(_ count: Int) { if let width { width.lend(count) } else { lent += count } }

  /// An engine has one more, or less, that waits for a place or has one.
  func seat(_ engine: NetworkEngine, waiting: Int = 0, running: Int = 0) {
    context.loop.assertOnLoop()
    guard let change = engine.seats.add(waiting: waiting, running: running, on: context.port.loop.number)
    else { return }
    if change.waiting < 0 { lines.clear(of: engine) }
    if change.running > 0 { lines.didStart(engine) }
    if let width { width.note(change, of: engine) } else { starved += engine.seats.note(change) }
  }

  // MARK: Several loops

  /// So many are taken at once, where there are so many.
  private static let placesAtOnce = 8

  /// Counts the exchanges that went on without a turn, and leaves what is free to the loops that wait.
  private func keepTurns() {
    guard let width else { return }
    let more = context.queue.running - context.queue.maximumConcurrent
    if more > 0 {
      width.exceed(by: more, of: context.port.loop.number)
      context.queue.maximumConcurrent += more
    }
    if width.isScarce { giveBackPlaces(keeping: placesGranted, isContent: false) }
    placesGranted = 0
  }

  /// The next, with a place that no loop had. Where there is none, this loop is told of the next one.
  private func nextWithAnotherPlace() -> NetworkOperation? {
    guard let width, context.queue.isHeldUp else { return nil }
    context.queue.maximumConcurrent += width.take(
      min(context.queue.count, Self.placesAtOnce), for: context.port.loop.number)
    return nextInQueue()
  }

  /// The next, with a place that is lent to an engine that has none.
  private func nextWithLentPlace() -> NetworkOperation? {
    guard isAnyStarved, lendPlaces(now: MonotonicClock.now) else { return nil }
    return nextInQueue()
  }

  /// What is not filled is for others.
  func giveBackPlaces(keeping kept: Int = 0, isContent: Bool = true) {
    guard let width else { return }
    let free = context.queue.maximumConcurrent - context.queue.running - kept
    guard free > 0 else { return }
    context.queue.maximumConcurrent -= free
    context.queue.maximumConcurrent += width.give(
      free, of: context.port.loop.number, isContent: isContent, context.port.driver)
  }

  /// A place that was free is this loop's: the turn that follows has an operation fill it.
  func granted() {
    context.loop.assertOnLoop()
    context.queue.maximumConcurrent += 1
    placesGranted += 1
  }

  // MARK: Few places

  /// An operation lines up.
  func lineUp(_ ticket: Ticket, of operation: NetworkOperation) {
    lines.add(ticket, of: operation.engine) { context.queue.isWaiting($0) }
    guard operation.loop.transfer != nil else { return }
    if goingOn.count >= goingOnMax {
      goingOn.removeAll { !context.queue.isWaiting($0) }
      goingOnMax = max(64, 2 * goingOn.count)
    }
    goingOn.append(ticket)
  }

  /// The last look at the queue was, or the next one would be, for what goes first alone. Another loop may have ended it since.
  private var isHeldBack: Bool { context.queue.isForFirstOnly || isCrowded }

  /// Places have become few: the rest is for engines that have nothing under way. The others' operations stay in the queue, where
  /// their classes and origins count.
  private var isCrowded: Bool { running.count >= descriptors.crowd || isLentTheRest }

  /// No place is free but what was lent, or fewer: what a loop has may be beyond the limit by what others have gone on with.
  private var isLentTheRest: Bool {
    let free = context.queue.maximumConcurrent - context.queue.running
    if let width { return width.lent > 0 && width.uncrowded + free <= 0 }
    return lent > 0 && free <= lent
  }
}
