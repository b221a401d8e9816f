/// The frozen requests of one store: asks the state machine what is next, has it written, and does it when it is
/// on the disk. It holds one small entry for each request that waits, and the whole record of those on their way.
///
/// One thread at a time, which decides and writes: what it decides waits in the `journal` until `write`. `pump` wants to be
/// called after every other call, and when `nextDue` has come; `write` after that, and when the journal is `due`.
final class FrozenSpool {
  /// What the spool asks of the world.
  struct World {
    var now: () -> ClockMoment
    /// Evenly distributed in 0..<1.
    var random: () -> Double
  }

  /// A request on its way. While a step of it is being written, nothing else is decided about it.
  struct Travelling {
    var record: FrozenRecord
    var step: Step?
    /// True if no caller wants it any more: decided as soon as the step is written.
    var isUnwanted = false
  }

  /// What is being written, and what is done then.
  enum Step {
    case launch
    case postpone(Microseconds, FrozenAction.Cause)
    case finish(FrozenOutcome)
    case deadLetter(DeadLetter)
  }

  let store: FrozenStore
  var journal: FrozenJournal
  let policy: FrozenPolicy
  weak var owner: (any FrozenSpoolOwner)?
  let world: World
  var scheduler = LaneScheduler()
  var travelling: [FrozenID: Travelling] = [:]
  /// Changes whose answers callers wait for.
  var awaited = 0
  /// Dead letters whose handlers have not returned yet.
  var undelivered: Set<FrozenID> = []
  var lastLane: (name: String, key: LaneKey)?
  /// The store failed.
  var failure: NetworkError?

  /// Takes over what the store holds: what was in flight when its process went away is decided, and everything is
  /// released lane by lane at the next `pump`. With requests that a later release wrote it does nothing, and accepts
  /// nothing (`failure`).
  init(
    _ store: FrozenStore, policy: FrozenPolicy = .standard, world: World, owner: (any FrozenSpoolOwner)? = nil
  ) {
    self.store = store
    journal = FrozenJournal(store, now: world.now)
    self.policy = policy
    self.world = world
    self.owner = owner
    do { try load() } catch {
      failure = error
      scheduler.isSuspended = true
    }
  }

  /// Requests that wait or are on their way.
  var count: Int { scheduler.count }

  /// When `pump` has something to do without anything else happening before; nil: never. On the monotonic clock.
  var nextDue: Microseconds? { failure == nil ? scheduler.nextDue : nil }

  func contains(_ id: FrozenID) -> Bool { scheduler.contains(id) }

  /// Something is being written or sent.
  var isMoving: Bool { failure == nil && !travelling.isEmpty || awaited > 0 }

  /// No caller wants it any more, and that is about to be decided, or being written.
  func isBeingCancelled(_ id: FrozenID) -> Bool {
    if case .deadLetter(let letter)? = travelling[id]?.step { return letter.cause.reason == .cancelled }
    return travelling[id]?.isUnwanted ?? false
  }

  /// A step of it is being written, or it is being sent.
  func isMoving(_ id: FrozenID) -> Bool { travelling[id] != nil }

  // MARK: Beginning

  private func load() throws(NetworkError) {
    let now = world.now()
    let isDoubtful = store.salvaged.isDoubtful
    var abandoned: [FrozenID] = []
    var doubted: [FrozenID] = []
    var isLater = false
    var unreadable: [FrozenID] = []
    scheduler.reserveCapacity(store.statistics.records)
    try store.scan { number, lane, payload in
      let id = FrozenID(number)
      guard let facts = FrozenFacts(decoding: payload, at: now) else {
        isLater = isLater || FrozenRecord.isLater(payload)
        unreadable.append(id)
        return !isLater
      }
      add(id, facts, LaneKey(first: lane.first, second: lane.second), now)
      if facts.state == .inFlight { abandoned.append(id) } else if isDoubtful { doubted.append(id) }
      return true
    }
    if isLater { throw NetworkError(.storeOpenFailed, cause: .newerSchema) }
    for id in unreadable { giveUpUnreadable(id) }
    try readLetters()
    for id in abandoned { advance(id, .abandoned) }
    for id in doubted { advance(id, .doubted) }
    scheduler.thaw(at: now.monotonic, random: world.random)
  }

  func add(_ id: FrozenID, _ facts: FrozenFacts, _ lane: LaneKey, _ now: ClockMoment) {
    scheduler.add(
      id, lane: lane, isUnordered: facts.flags.contains(.isUnordered),
      due: now.monotonic + facts.wait(at: now, policy: policy),
      expires: now.monotonic + facts.timeLeft(at: now) + 1)
  }

  /// A poisoned letter stops its lane over restarts too, and perhaps no caller was told of it.
  private func readLetters() throws(NetworkError) {
    for (number, ending) in try store.endings(.deadLetters) {
      guard let letter = DeadLetter(ending, at: world.now()) else { continue }
      if !letter.isDelivered { undelivered.insert(FrozenID(number)) }
      guard letter.haltsLane, let record = letter.record else { continue }
      scheduler.halt(LaneKey(record.request.lane), by: FrozenID(number))
    }
  }

  /// Its checksum is right and its content makes no sense: a defect, not damage. Nothing is thrown away.
  private func giveUpUnreadable(_ id: FrozenID) {
    let now = world.now()
    let letter = DeadLetter(.lost, diedWall: now.wall, record: nil)
    let ending = FrozenEnding(endedAt: now, payload: letter.encode(at: now))
    journal.append(.deadLetter(id.number, ending, keepsBody: true))
  }
}

extension DeadLetter {
  /// Nil when the bytes say nothing; damaged ones are a letter without a record.
  init?(_ ending: FrozenEnding, at now: ClockMoment) {
    if ending.isDamaged {
      self.init(.lost, diedWall: ending.endedAt.wall, record: nil)
    } else {
      self.init(decoding: ending.payload.rawBytes, at: now)
    }
  }
}

/// The sender of what a spool releases, which hears what came of it. All calls come on the spool's thread, from inside
/// one of its methods.
protocol FrozenSpoolOwner: AnyObject {
  /// True if there is use in an attempt now. False: it waits, and its lane with it, for `FrozenSpool.wake` or `thaw`.
  func maySend(_ id: FrozenID, _ record: FrozenRecord) -> Bool
  /// The attempt is recorded: now its bytes may leave. Answered by `FrozenSpool.didEnd`, once.
  func send(_ id: FrozenID, _ record: FrozenRecord, body: [UInt8])
  /// The attempt must end: no caller waits for its answer any more.
  func abort(_ id: FrozenID)
  /// Its outcome is recorded. Answered by `FrozenSpool.acknowledge` once the caller's handler has returned.
  func didFinish(_ id: FrozenID, _ outcome: FrozenOutcome)
  /// The request is a dead letter, and that is recorded.
  func didBecomeDeadLetter(_ id: FrozenID, _ letter: DeadLetter)
  /// The request waits for another attempt, and that is recorded.
  func didPostpone(_ id: FrozenID, _ record: FrozenRecord)
  /// An attempt could not be recorded, and is not made.
  func didNotLaunch(_ id: FrozenID)
  /// The disk refused: nothing is sent or recorded any more.
  func didFail(_ failure: NetworkError)
}

// Accepting: nothing is promised before it is on the disk.

extension FrozenSpool {
  /// Accepts a request. `then` comes once it is on the disk, or with `queueFull`, `bodyTooLarge`, `invalidRequest`,
  /// `invalidURL`, `storageFull` or `storeFailed`, at once for what the limits refuse.
  func accept(_ draft: FrozenDraft, then: @escaping (FrozenAnswer) -> Void) {
    if let failure = failure ?? draft.refusal { return then(.failure(failure)) }
    let request = draft.request
    let lane = laneKey(request.lane)
    let row = FrozenRow(
      lane: KeyDigest((lane.first, lane.second)), dedupeKey: request.dedupeKey.map { Array($0.utf8) },
      payload: draft.payload)
    write(.accept(row, body: draft.body)) { [facts = draft.facts] spool, result in
      if case .success(let receipt) = result, !receipt.isDuplicate {
        spool.add(FrozenID(receipt.number), facts, lane, spool.world.now())
      }
      then(result)
    }
  }

  /// Has a change written that a caller waits for.
  func write(_ change: FrozenChange, then: @escaping (FrozenSpool, FrozenAnswer) -> Void) {
    awaited += 1
    journal.append(change, .caller(then))
  }

  /// Many come one behind the other for one lane, whose name needs no digest each time.
  private func laneKey(_ name: String) -> LaneKey {
    if let lastLane, lastLane.name == name { return lastLane.key }
    let key = LaneKey(name)
    lastLane = (name, key)
    return key
  }

  /// A store that failed takes everything with it that was not recorded.
  func note(_ failure: NetworkError) {
    guard failure.code == .storeFailed, self.failure == nil else { return }
    self.failure = failure
    scheduler.isSuspended = true
    owner?.didFail(failure)
  }
}
