/// Decides which frozen request is sent next.
///
/// Lanes take turns. In a lane the oldest goes first, one at a time, and one that waits holds up its own lane
/// only. Times are microseconds of a clock that does not go back.
struct LaneScheduler: Sendable {
  /// The limit in flight while there are requests from before the network came back, or from an earlier process. 8.
  var thawingMax = 8
  /// The limit in flight otherwise. 64.
  var inFlightMax = 64
  /// When the network comes back, each lane waits for a part of this. 2 s.
  var openingJitter: Microseconds = 2 * .second

  private(set) var lanes: [LaneKey: FrozenLane] = [:]
  private var laneOf = FrozenTable<LaneKey>()
  /// Lanes that may have something to send.
  private var ring = FIFO<LaneKey>()
  private var sleeping = DueHeap<LaneKey>()
  private var expiring = DueHeap<FrozenID>()
  /// Up to this one they are from before; none when it is 0.
  private var thawsTo = FrozenID(0)
  private var thawing = 0
  /// Their lanes have begun by then.
  private var opensBy = Microseconds.min
  /// The lanes that stand still, by the poisoned ones that stopped them.
  private var halting: [FrozenID: LaneKey] = [:]
  private var newest = FrozenID(0)
  private(set) var inFlight = 0
  /// Nothing is sent, whatever is due.
  var isSuspended = false

  var count: Int { laneOf.count }
  var isEmpty: Bool { laneOf.isEmpty }
  func contains(_ id: FrozenID) -> Bool { laneOf[id] != nil }
}

// MARK: Coming and going

extension LaneScheduler {
  /// Makes room for as many requests as are about to come.
  mutating func reserveCapacity(_ count: Int) { laneOf.reserveCapacity(count) }

  /// Adds a request that waits. `due`: not before; `expires`: when `nextExpired` names it.
  mutating func add(
    _ id: FrozenID, lane key: LaneKey, isUnordered: Bool, due: Microseconds, expires: Microseconds
  ) {
    precondition(laneOf[id] == nil, "NetSpool: frozen request \(id) stands in its lane already")
    laneOf[id] = key
    newest = max(newest, id)
    lanes[key, default: FrozenLane()].add(id, FrozenLane.Member(isUnordered: isUnordered, due: due))
    expiring.insert(id, due: expires)
    if id <= thawsTo { thawing += 1 }
    list(key)
  }

  /// Removes a request that has its outcome or is a dead letter.
  mutating func remove(_ id: FrozenID) {
    guard let key = laneOf.removeValue(forKey: id) else { return }
    if id <= thawsTo { thawing -= 1 }
    change(key) { $0.remove(id) }
    if expiring.count > 2 * laneOf.count + 64 {
      let laneOf = laneOf
      expiring.compact { laneOf[$1] != nil }
    }
  }

  /// Puts a request back to where it stood in its lane.
  mutating func wait(_ id: FrozenID, until due: Microseconds, forNetwork: Bool = false) {
    changeLane(of: id) { $0.wait(id, until: due, forNetwork: forNetwork) }
  }

  /// The lane of a poisoned one stops until it is freed.
  mutating func halt(_ key: LaneKey, by id: FrozenID) {
    halting[id] = key
    lanes[key, default: FrozenLane()].halt(by: id)
  }

  mutating func free(from id: FrozenID) {
    if let key = halting.removeValue(forKey: id) { change(key) { $0.free(from: id) } }
  }

  private mutating func changeLane(of id: FrozenID, _ body: (inout FrozenLane) -> Void) {
    if let key = laneOf[id] { change(key, body) }
  }

  private mutating func change(_ key: LaneKey, _ body: (inout FrozenLane) -> Void) {
    guard var lane = lanes.removeValue(forKey: key) else { return }
    inFlight -= lane.inFlight
    body(&lane)
    inFlight += lane.inFlight
    guard lane.isEmpty else {
      lanes[key] = lane
      return list(key)
    }
    // What failed before counts for as long as the lane would have slept.
    guard lane.breaker.isOpen else { return }
    lanes[key] = lane
    sleep(key, lane.breaker.sleepsUntil)
  }
}

// MARK: What the origin and the network do

extension LaneScheduler {
  /// An answer came that does not ask for another attempt.
  mutating func didSucceed(_ id: FrozenID) { changeLane(of: id) { $0.breaker.didSucceed() } }

  /// The same, and its outcome is being written: the next of its lane may be recorded in the same commit. It stays until it
  /// is removed.
  mutating func end(_ id: FrozenID) { changeLane(of: id) { $0.end(id) } }

  /// True while it must not be sent: an outcome before it is not on the disk yet.
  func isAhead(_ id: FrozenID) -> Bool { laneOf[id].flatMap { lanes[$0]?.isAhead(id) } ?? false }

  mutating func didFail(_ id: FrozenID, at now: Microseconds, policy: FrozenPolicy, random: Double) {
    changeLane(of: id) { $0.breaker.didFail(at: now, policy: policy, random: random) }
  }

  /// There is a network, and has been for a while: what waits for it goes, lane by lane.
  ///
  /// - Parameter random: evenly distributed in 0..<1, asked once for each lane.
  mutating func thaw(at now: Microseconds, random: () -> Double) {
    beginThawing(at: now)
    for key in lanes.keys {
      let moment = now + Microseconds(random() * Double(openingJitter))
      change(key) { $0.open(at: moment) }
    }
  }

  /// The same for the lane of one that waits for the network.
  ///
  /// - Parameter random: evenly distributed in 0..<1.
  mutating func wake(_ id: FrozenID, at now: Microseconds, random: Double) {
    guard let key = laneOf[id] else { return }
    beginThawing(at: now)
    let moment = now + Microseconds(random * Double(openingJitter))
    change(key) { $0.open(at: moment) }
  }

  /// Lets a request go that waits for the network; its lane and the others go on as they were.
  mutating func release(_ id: FrozenID, at now: Microseconds) {
    changeLane(of: id) { $0.release(id, at: now) }
  }

  /// Lets all go that wait for the network and for no time.
  mutating func releaseHeld(at now: Microseconds) {
    beginThawing(at: now)
    for key in lanes.keys { change(key) { $0.releaseHeld(at: now) } }
  }

  /// Lets the requests that are here now go gently.
  private mutating func beginThawing(at now: Microseconds) {
    thawsTo = newest
    thawing = laneOf.count
    opensBy = now + openingJitter
  }
}

// MARK: Deciding

extension LaneScheduler {
  /// The one whose turn it is, which is in flight from now on; nil when none may be sent now.
  ///
  /// - Parameter runsAhead: it may be one behind an outcome that is still being written.
  mutating func next(at now: Microseconds, runsAhead: Bool = true) -> FrozenID? {
    wakeLanes(now)
    guard !isSuspended, inFlight < (thawing > 0 ? thawingMax : inFlightMax) else { return nil }
    while let key = ring.popFirst() {
      guard let verdict = lanes[key]?.verdict(at: now, runsAhead: runsAhead) else { continue }
      // Changed where it is: a copy of a lane is one of all its members.
      lanes[key]?.isListed = false
      switch verdict {
      case .idle: break
      case .sleep(let until): sleep(key, until)
      case .launch(let id):
        lanes[key]?.launch(id)
        inFlight += 1
        list(key)
        return id
      }
    }
    // There is room: what is left of the old ones waits for something else, perhaps for days.
    if opensBy <= now { (thawsTo, thawing) = (FrozenID(0), 0) }
    return nil
  }

  /// When `next` or `nextExpired` may have an answer, without anything else happening before; nil: never.
  var nextDue: Microseconds? {
    let wake = isSuspended ? nil : sleeping.first?.due
    return [wake, expiring.first?.due].compactMap(\.self).min()
  }

  /// Names one again then, if it is still here.
  mutating func lookAgain(at id: FrozenID, due: Microseconds) { expiring.insert(id, due: due) }

  /// Returns a request that waits and has expired; it stays until it is removed, and is named once. One that
  /// was revived may be named at its earlier time as well.
  mutating func nextExpired(at now: Microseconds) -> FrozenID? {
    while let first = expiring.first, first.due <= now {
      expiring.popFirst()
      guard let key = laneOf[first.element] else { continue }
      // What is in flight may still get its answer; looked at again in a second.
      guard lanes[key]?.isInFlight(first.element) != true else {
        lookAgain(at: first.element, due: now + .second)
        continue
      }
      return first.element
    }
    return nil
  }

  func isInFlight(_ id: FrozenID) -> Bool { laneOf[id].flatMap { lanes[$0]?.isInFlight(id) } ?? false }

  private mutating func wakeLanes(_ now: Microseconds) {
    while let first = sleeping.first, first.due <= now {
      sleeping.popFirst()
      guard lanes[first.element]?.wakesAt == first.due else { continue }
      lanes[first.element]?.wakesAt = .max
      if lanes[first.element]?.isEmpty == true { lanes[first.element] = nil }
      list(first.element)
    }
  }

  /// A lane has one place in the heap that counts: the earliest.
  private mutating func sleep(_ key: LaneKey, _ until: Microseconds) {
    guard let wakesAt = lanes[key]?.wakesAt, until != wakesAt else { return }
    lanes[key]?.wakesAt = until
    sleeping.insert(key, due: until)
  }

  private mutating func list(_ key: LaneKey) {
    guard lanes[key]?.isListed == false else { return }
    lanes[key]?.isListed = true
    ring.append(key)
  }
}
