internal import Synchronization

/// How much of the house each engine may fill, and what waits until it has room again. A limit that all engines shared
/// would let one of them stop the others. Loop thread.
///
/// Two things fill up: the final events that an engine's closures have not seen, and the streams that have got all that
/// the network will give, or as much as they take for now, and are not done.
struct EngineRooms {
  /// Final events of one engine on their way to its closures, a body in memory counting as one more for each 64 KiB; beyond
  /// it that engine starts nothing new, so that a handler that blocks costs bounded memory.
  static let undeliveredMax = 4096
  /// Operations of one engine that only wait for their streams; beyond it that engine starts none with streams.
  static let streamsMax = 256
  var streamsMax = Self.streamsMax

  private struct Room {
    let engine: NetworkEngine
    /// On this loop.
    var streams = 0
    /// Nil while nothing has waited.
    var lists: Lists?

    /// The streams of the engine on all loops leave room for so many.
    func places(_ streamsMax: Int) -> Int { max(0, streamsMax - engine.counters.streams.held) }
    var waitsForStreams: Bool { lists.map { !($0.streamed.isEmpty && $0.playbacks.isEmpty) } ?? false }
    var isUnused: Bool { streams == 0 && !waitsForStreams && lists?.deliveries.isEmpty ?? true }
  }

  private struct Lists {
    /// For room among the streams.
    let playbacks, streamed: WaitList
    /// For its closures.
    let deliveries: WaitList

    init(_ counters: EngineCounters) {
      playbacks = WaitList(countedBy: counters.streams)
      streamed = WaitList(countedBy: counters.streams)
      deliveries = WaitList(countedBy: counters.deliveries)
    }
  }

  /// Engines that have something here; most never do.
  private var rooms: [UInt64: Room] = [:]
  /// Engines that may have room again.
  private var freed: [UInt64] = [] { didSet { isUrgent = true } }
  /// Some of them were not looked at since.
  private var isUrgent = false

  /// True when no engine has a stream that is not done, and nothing waits.
  var isEmpty: Bool { rooms.isEmpty }

  func hasRoomForStreams(_ engine: NetworkEngine) -> Bool { engine.counters.streams.held < streamsMax }

  mutating func takeStreams(_ engine: NetworkEngine) {
    rooms[engine.id, default: Room(engine: engine)].streams += 1
    engine.counters.streams.take()
  }

  mutating func giveStreams(_ engine: NetworkEngine) {
    rooms[engine.id]?.streams -= 1
    engine.counters.streams.give()
    didFree(engine)
  }

  /// Its closures have caught up.
  mutating func didFree(_ engine: NetworkEngine) {
    guard let room = rooms[engine.id] else { return }
    if room.isUnused { rooms[engine.id] = nil } else { freed.append(engine.id) }
  }

  /// Operations wait for streams of their engine to end, which may be another loop's and do not tell this one.
  var waitForStreams: Bool { rooms.values.contains { $0.waitsForStreams } }

  /// Operations that wait for streams may have room by now.
  mutating func lookAtStreams() {
    for (id, room) in rooms where room.waitsForStreams && room.places(streamsMax) > 0 && !freed.contains(id) {
      freed.append(id)
    }
  }

  private mutating func lists(of engine: NetworkEngine) -> Lists {
    let lists = rooms[engine.id]?.lists ?? Lists(engine.counters)
    rooms[engine.id, default: Room(engine: engine)].lists = lists
    return lists
  }

  /// What an engine has no room for now.
  mutating func list(of engine: NetworkEngine, forStreams: Bool) -> WaitList {
    if forStreams { return lists(of: engine).streamed }
    freed.removeAll { $0 == engine.id }
    return lists(of: engine).deliveries
  }

  /// Stored bodies that wait; there may be room for one at once.
  mutating func playbacks(of engine: NetworkEngine) -> WaitList {
    freed.append(engine.id)
    return lists(of: engine).playbacks
  }

  /// A wait for room has ended.
  mutating func didLeave(_ engine: NetworkEngine) {
    if rooms[engine.id]?.isUnused ?? false { rooms[engine.id] = nil }
  }

  /// A stored body whose streams have room now.
  func nextPlayback() -> Wait? {
    for id in freed {
      if let room = rooms[id], room.places(streamsMax) > 0, let next = room.lists?.playbacks.popFirst() {
        return next
      }
    }
    return nil
  }

  /// The turn of a waiting operation has come again.
  var hasReady: Bool { isUrgent && !freed.isEmpty }
  /// There is room, and an operation waits for it: those whose turn had come may have ended, or be paused, without taking it.
  var hasPatient: Bool { !isUrgent && !freed.isEmpty }

  /// Takes those whose turn has come again, in order: as many as there may be room for.
  mutating func takeReady() -> [Wait] {
    if freed.isEmpty { return [] }
    var ready: [Wait] = []
    var rest: [UInt64] = []
    var isUrgent = false
    for id in freed {
      guard let room = rooms[id], let lists = room.lists else { continue }
      let places = room.places(streamsMax)
      ready += lists.streamed.take(atMost: places)
      ready += lists.deliveries.take(atMost: max(1, room.engine.roomToDeliver))
      // The rest has its turn next, unless one of these finds no room.
      if !lists.deliveries.isEmpty { isUrgent = true }
      let isPatient = !lists.streamed.isEmpty && places > 0
      if !lists.deliveries.isEmpty || isPatient, !rest.contains(id) { rest.append(id) }
    }
    freed = rest
    self.isUrgent = isUrgent
    return ready
  }
}

/// An engine's part in its queue. Each loop counts for itself. All of them know only on how many the engine waits and has
/// something under way, which changes seldom: the loop's thread writes it, or of several who has the lock of their `SharedWidth`.
struct EngineSeats: ~Copyable, Sendable {
  enum Count: Int, CaseIterable { case waiting, running }
  private let counts: SharedCounts<Count>
  private let loopsWaiting = Atomic(0)
  private let loopsRunning = Atomic(0)
  private let goesFirst = Atomic(false)

  init(loops: Int) { counts = SharedCounts(lines: loops) }

  /// Operations that wait for a place.
  var waiting: Int { counts[.waiting] }
  /// Exchanges that have one.
  var running: Int { counts[.running] }
  /// It has something under way, on whatever loop.
  var isRunning: Bool { loopsRunning.load(ordering: .relaxed) > 0 }
  /// Others have all places.
  private var isStarved: Bool { loopsWaiting.load(ordering: .relaxed) > 0 && !isRunning }

  /// By how many loops more, or less, the engine waits and has something under way.
  struct Change {
    let waiting, running: Int
  }

  /// The loop's thread. Returns what others are to know of it: mostly nothing.
  func add(waiting more: Int, running moreRunning: Int, on loop: Int) -> Change? {
    if moreRunning > 0, goesFirst.load(ordering: .relaxed) { goesFirst.store(false, ordering: .relaxed) }
    let change = Change(
      waiting: add(more, to: .waiting, on: loop), running: add(moreRunning, to: .running, on: loop))
    return change.waiting == 0 && change.running == 0 ? nil : change
  }

  /// Returns 1 when it was nothing and is something, -1 the other way.
  private func add(_ count: Int, to name: Count, on loop: Int) -> Int {
    if count == 0 { return 0 }
    let now = counts.add(count, to: name, ofLine: loop)
    return (now > 0 ? 1 : 0) - (now > count ? 1 : 0)
  }

  /// Notes a change for all loops. Returns by how many more, or less, engines are starved.
  func note(_ change: Change) -> Int {
    let wasStarved = isStarved
    loopsWaiting.add(change.waiting, ordering: .relaxed)
    loopsRunning.add(change.running, ordering: .relaxed)
    if loopsWaiting.load(ordering: .relaxed) == 0 { goesFirst.store(false, ordering: .relaxed) }
    return (isStarved ? 1 : 0) - (wasStarved ? 1 : 0)
  }

  /// True if the next one goes before those of engines that have something under way: one at a time, for else an engine that
  /// asks thousands of origins would have a turn at each before another has one at all.
  func letNextGoFirst() -> Bool {
    guard !isRunning, !goesFirst.load(ordering: .relaxed) else { return false }
    goesFirst.store(true, ordering: .relaxed)
    return true
  }
}

/// Counts of what each engine has taken. Any thread.
struct EngineCounters: Sendable {
  let deliveries = BudgetCounter()
  let streams = BudgetCounter()
  let names = BudgetCounter()
}

// MARK: What closures have not seen

extension NetworkEngine {
  /// Loop thread: a final event goes to the delivery target.
  func willDeliver(_ weight: Int) {
    driver.willDeliver()
    undelivered.add(weight, ordering: .relaxed)
  }

  /// Final events that its closures have not seen, by weight.
  var eventsHeld: Int { undelivered.load(ordering: .sequentiallyConsistent) + ended.held }

  /// How many more may be on their way; below nothing where large bodies, refusals and ends of what ran came on top.
  var roomToDeliver: Int { EngineRooms.undeliveredMax - eventsHeld }

  /// Loop thread: true when user closures keep up. Otherwise the loop hears of it when half of them have run.
  func checkRoomToDeliver() -> Bool {
    if roomToDeliver > 0 { return true }
    isWaitingForRoom.store(true, ordering: .sequentiallyConsistent)
    guard hasCaughtUp else { return false }
    isWaitingForRoom.store(false, ordering: .sequentiallyConsistent)
    return true
  }

  private var hasCaughtUp: Bool { eventsHeld <= EngineRooms.undeliveredMax / 2 }

  /// The delivery target: a final event has been seen.
  func didDeliver(_ weight: Int) {
    undelivered.subtract(weight, ordering: .sequentiallyConsistent)
    wakeIfCaughtUp()
    driver.didDeliver()
  }

  func wakeIfCaughtUp() {
    if isWaitingForRoom.load(ordering: .sequentiallyConsistent), hasCaughtUp,
      isWaitingForRoom.exchange(false, ordering: .sequentiallyConsistent)
    {
      driver.performEverywhere(of: QueueDriver.Command.house) { [self] in $0.seats.rooms.didFree(self) }
    }
  }
}
