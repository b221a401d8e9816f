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
    /// The engine's on all loops.
    let counter: BudgetCounter
    /// On this loop.
    var streams = 0
    /// For room among the streams.
    var playbacks = FIFO<(playback: WaitingPlayback, wait: BudgetCounter.Wait)>()
    var streamed = FIFO<NetworkOperation>()
    /// For its closures.
    var operations = FIFO<NetworkOperation>()

    init(_ engine: NetworkEngine) { counter = engine.counters.streams }

    var waitsForStreams: Bool { !(streamed.isEmpty && playbacks.isEmpty) }
    var isUnused: Bool { streams == 0 && playbacks.isEmpty && streamed.isEmpty && operations.isEmpty }
  }

  /// Engines that have something here; most never do.
  private var rooms: [UInt64: Room] = [:]
  /// Engines that may have room again.
  private var freed: [UInt64] = [] { didSet { isUrgent = true } }
  /// Some of them were not looked at since.
  private var isUrgent = false
  /// For a place that is not there for engines that have none: of all engines.
  private var crowded = FIFO<NetworkOperation>()

  /// True when no engine has a stream that is not done.
  var isEmpty: Bool { rooms.values.allSatisfy { $0.streams == 0 } }

  func hasRoomForStreams(_ engine: NetworkEngine) -> Bool { engine.counters.streams.held < streamsMax }

  mutating func takeStreams(_ engine: NetworkEngine) {
    rooms[engine.id, default: Room(engine)].streams += 1
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

  /// Some wait for streams of their engine to end, which may be another loop's and tell nobody here.
  var waitForStreams: Bool { rooms.values.contains { $0.waitsForStreams } }

  /// Those that wait for streams may have room by now.
  mutating func lookAtStreams() {
    for (id, room) in rooms
    where room.waitsForStreams && room.counter.held < streamsMax && !freed.contains(id) {
      freed.append(id)
    }
  }

  mutating func park(_ operation: NetworkOperation, forStreams: Bool) {
    if forStreams {
      rooms[operation.engine.id, default: Room(operation.engine)].streamed.append(operation)
    } else {
      rooms[operation.engine.id, default: Room(operation.engine)].operations.append(operation)
      freed.removeAll { $0 == operation.engine.id }
    }
  }

  /// What places there are, are for engines that have none.
  mutating func parkCrowded(_ operation: NetworkOperation) { crowded.append(operation) }

  var hasCrowded: Bool { !crowded.isEmpty }
  /// Some may be taken back.
  var hasParked: Bool { !freed.isEmpty || hasCrowded }

  mutating func takeCrowded(atMost count: Int) -> [NetworkOperation] {
    var taken: [NetworkOperation] = []
    while taken.count < count, let next = crowded.popFirst() { taken.append(next) }
    return taken
  }

  mutating func park(_ playback: WaitingPlayback) {
    let engine = playback.operation.engine
    rooms[engine.id, default: Room(engine)].playbacks.append((playback, engine.counters.streams.wait()))
    freed.append(engine.id)
  }

  /// A stored body whose streams have room now.
  mutating func nextPlayback() -> WaitingPlayback? {
    for id in freed {
      guard let room = rooms[id], room.counter.held < streamsMax else { continue }
      guard let next = rooms[id]?.playbacks.popFirst() else { continue }
      next.playback.operation.engine.counters.streams.end(next.wait)
      return next.playback
    }
    return nil
  }

  /// Somebody's turn has come again.
  var hasReady: Bool { isUrgent && !freed.isEmpty }
  /// There is room, and somebody who waits for it: those whose turn had come may have ended, or be paused, without taking it.
  var hasPatient: Bool { !isUrgent && !freed.isEmpty }

  /// Takes those whose turn has come again, in order: as many as there may be room for.
  mutating func takeReady() -> [NetworkOperation] {
    if freed.isEmpty { return [] }
    var ready: [NetworkOperation] = []
    var rest: [UInt64] = []
    var isUrgent = false
    for id in freed {
      guard var room = rooms.removeValue(forKey: id) else { continue }
      let held = room.counter.held
      for _ in 0..<max(0, streamsMax - held) {
        guard let next = room.streamed.popFirst() else { break }
        ready.append(next)
      }
      if let first = room.operations.popFirst() {
        ready.append(first)
        for _ in 1..<max(1, first.engine.roomToDeliver) {
          guard let next = room.operations.popFirst() else { break }
          ready.append(next)
        }
      }
      if room.isUnused { continue }
      rooms[id] = room
      // The rest has its turn next, unless one of these finds no room.
      if !room.operations.isEmpty { isUrgent = true }
      let isPatient = !room.streamed.isEmpty && held < streamsMax
      if !room.operations.isEmpty || isPatient, !rest.contains(id) { rest.append(id) }
    }
    freed = rest
    self.isUrgent = isUrgent
    return ready
  }
}

/// An engine's part in its queue. Only the loop's thread writes; of several loops, who has the lock of their `SharedWidth`.
struct EngineSeats: ~Copyable, Sendable {
  private let waitingCount = Atomic(0)
  private let runningCount = Atomic(0)
  private let goesFirst = Atomic(false)

  /// Operations that wait for a place.
  var waiting: Int { waitingCount.load(ordering: .relaxed) }
  /// Exchanges that have one.
  var running: Int { runningCount.load(ordering: .relaxed) }
  /// Others have all places.
  var isStarved: Bool { waiting > 0 && running == 0 }

  func add(waiting more: Int, running moreRunning: Int) {
    waitingCount.store(waiting + more, ordering: .relaxed)
    runningCount.store(running + moreRunning, ordering: .relaxed)
    if moreRunning > 0 || waiting == 0 { goesFirst.store(false, ordering: .relaxed) }
  }

  /// Whether the next one goes before those of engines that have something under way: one at a time, for else an engine that
  /// asks thousands of origins would have a turn at each before another has one at all.
  func letNextGoFirst() -> Bool {
    guard running == 0, !goesFirst.load(ordering: .relaxed) else { return false }
    goesFirst.store(true, ordering: .relaxed)
    return true
  }
}

// MARK: Counting

/// What each engine has taken, for those who ask. Any thread.
struct EngineCounters: Sendable {
  let deliveries = BudgetCounter()
  let streams = BudgetCounter()
  let names = BudgetCounter()
}

/// What a parked operation waits for, with its number there.
enum RoomWait {
  case streams(BudgetCounter.Wait)
  case deliveries(BudgetCounter.Wait)
  /// A place: the few that are left are for engines that have none.
  case place

  /// Begins to wait.
  init(_ counters: EngineCounters, forStreams: Bool) {
    self = forStreams ? .streams(counters.streams.wait()) : .deliveries(counters.deliveries.wait())
  }

  /// Ends the wait: it goes on, or went away without.
  func end(_ counters: EngineCounters, isRefused: Bool) {
    switch self {
    case .streams(let wait): isRefused ? counters.streams.refuse(wait) : counters.streams.end(wait)
    case .deliveries(let wait): isRefused ? counters.deliveries.refuse(wait) : counters.deliveries.end(wait)
    case .place: break
    }
  }
}

// MARK: What closures have not seen

extension NetworkEngine {
  /// Loop thread: a final event goes to the delivery target.
  func willDeliver(_ weight: Int) {
    driver.willDeliver()
    undelivered.add(weight, ordering: .relaxed)
  }

  /// Loop thread: user closures keep up. Otherwise the loop hears of it when half of them have run.
  func hasRoomToDeliver() -> Bool {
    if undelivered.load(ordering: .relaxed) < EngineRooms.undeliveredMax { return true }
    isWaitingForRoom.store(true, ordering: .sequentiallyConsistent)
    guard hasCaughtUp else { return false }
    isWaitingForRoom.store(false, ordering: .sequentiallyConsistent)
    return true
  }

  /// Loop thread: how many more final events may be on their way.
  fileprivate var roomToDeliver: Int { EngineRooms.undeliveredMax - undelivered.load(ordering: .relaxed) }

  private var hasCaughtUp: Bool {
    undelivered.load(ordering: .sequentiallyConsistent) <= EngineRooms.undeliveredMax / 2
  }

  /// The delivery target: a final event has been seen.
  func didDeliver(_ weight: Int) {
    undelivered.subtract(weight, ordering: .sequentiallyConsistent)
    if isWaitingForRoom.load(ordering: .sequentiallyConsistent), hasCaughtUp,
      isWaitingForRoom.exchange(false, ordering: .sequentiallyConsistent)
    {
      driver.performEverywhere(of: QueueDriver.Command.house) { [self] in $0.rooms.didFree(self) }
    }
    driver.didDeliver()
  }
}
