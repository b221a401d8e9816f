internal import Synchronization

/// The use of a limit, and the waiting that it has caused. Counts begin with its owner.
public struct NetworkBudget: Sendable, Hashable {
  /// The part that is taken now.
  public internal(set) var held = 0
  /// The most that may be taken at once; nil: there is no such number.
  public internal(set) var heldMax: Int?
  /// Waiting for room now.
  public internal(set) var waiting = 0
  /// Gone without room: dropped, cancelled, or out of time.
  public internal(set) var refused = 0
  /// The longest wait, waits that still last included.
  public internal(set) var longestWait = Duration.zero

  /// With what another loop has counted for the same limit.
  fileprivate func with(_ other: Self) -> Self {
    NetworkBudget(
      held: held + other.held, heldMax: other.heldMax, waiting: waiting + other.waiting,
      refused: refused + other.refused, longestWait: max(longestWait, other.longestWait))
  }
}

extension NetworkEngine {
  /// The limits that belong to this engine alone. None of it slows another engine; what engines still share
  /// stands in <doc:Threads>.
  public struct Budgets: Sendable, Hashable {
    /// Final events that its closures have not seen, one with a body in memory counting as one more for each 64 KiB of it;
    /// 4,096. Beyond it the engine starts nothing new, and fresh hits wait as well.
    public internal(set) var deliveries = NetworkBudget()
    /// Operations that only wait for their streams; 256. Beyond it the engine starts none with streams.
    public internal(set) var streams = NetworkBudget()
    /// Names that are looked up for it; 4, and more once a lookup has taken 2 s. Refused are names whose
    /// requests had ended.
    public internal(set) var names = NetworkBudget()
    /// Bytes that wait to be written into its cache, by changes that wait; those of all engines with the same store.
    /// Refused are answers that were not stored. Nil without a cache.
    public internal(set) var cacheWrites: NetworkBudget?
    /// Bytes of bodies that streams are given and that lie on the disk on their way into the cache, those of all engines
    /// of this process with the same store; ``CacheConfiguration/bytesMax``. Refused are bodies beyond it, which are not
    /// stored. Nil without a cache.
    public internal(set) var cacheSpools: NetworkBudget?
  }

  /// The limits of this engine, and how far each is used. Any thread; cheap enough to ask a thousand times a second.
  public var budgets: Budgets {
    var budgets = Budgets()
    if driver.isOfParent { return budgets }
    budgets.deliveries = counters.deliveries.report(heldMax: EngineRooms.undeliveredMax)
    budgets.deliveries.held = eventsHeld
    budgets.streams = counters.streams.report(heldMax: EngineRooms.streamsMax)
    budgets.names = counters.names.report(heldMax: NameResolver.perAskerMax)
    budgets.cacheWrites = cache?.store.budget
    budgets.cacheSpools = cache?.store.spools.report
    return budgets
  }
}

extension NetworkQueue {
  /// The limits that engines of a queue share: places, files by device, origins, and time on its loop.
  public struct Budgets: Sendable, Hashable {
    /// Exchanges under way, of `maximumConcurrent`; those that only wait for an answer or for a stream count as well. Waiting
    /// are operations whose turn has not come, at the queue or at their origin; refused those that ended before it came.
    public internal(set) var places = NetworkBudget()
    /// Writes to files, by the number of the device (`st_dev`); 2 at once for each, or one for each of
    /// more loops.
    public internal(set) var fileWrites: [UInt64: NetworkBudget] = [:]
    /// Origins that have asked for quiet for a second or longer, the operations that wait for them, those that ended with
    /// their total meanwhile, and the longest such time.
    public internal(set) var originPauses = NetworkBudget()
    /// Origins that are remembered; beyond 1,024, and twice those in use, idle ones are forgotten. Nothing
    /// waits for it.
    public internal(set) var origins = NetworkBudget()
    /// Bytes that may come over HTTP/2 before they are taken, of answers that go to streams and share a
    /// connection: of each as many as its length says, and 32 MiB at most; 256 MiB in all. Refused are
    /// answers that came on a connection of their own instead, which is not read while their streams take
    /// nothing.
    public internal(set) var readAhead = NetworkBudget()
    /// The longest that one socket, timer, or list of commands, answers or closures had the loop.
    public internal(set) var longestTurn = Duration.zero
    /// Turns that were longer than 50 ms. A logger of an engine hears of them, at most once a second.
    public internal(set) var longTurns = 0
  }

  /// The limits of the queue, and how far each is used. Any thread; cheap enough to ask a thousand times a second.
  public var budgets: Budgets {
    var budgets = Budgets()
    if driver.isOfParent { return budgets }
    let heldMax = driver.settings.withLock { $0.maximumConcurrent }
    budgets.places = driver.loops.map { $0.places.report(heldMax: heldMax) }.reduce(NetworkBudget()) {
      $0.with($1)
    }
    budgets.places.held = driver.running
    budgets.fileWrites = driver.fileWrites.reports
    budgets.originPauses = driver.pauses.report(heldMax: nil)
    // What is counted there are the pauses themselves.
    budgets.originPauses.held = budgets.originPauses.waiting
    budgets.originPauses.waiting = driver.waitingForPauses.load(ordering: .relaxed)
    budgets.origins.held = driver.loops.reduce(0) { $0 + $1.originsKnown.load(ordering: .relaxed) }
    budgets.origins.heldMax = driver.loops.reduce(0) { $0 + $1.originsMax.load(ordering: .relaxed) }
    budgets.readAhead = driver.readAhead.report
    budgets.longestTurn = .microseconds(driver.longestTurn)
    budgets.longTurns = driver.loops.reduce(0) { $0 + $1.watch.longTurns }
    return budgets
  }
}
