/// The priority queue that feeds the transfer layer by demand: what may run now leaves it, the rest waits here.
///
/// libcurl's own pending list costs 720 us per request at 100,000 entries (it is walked), so nothing waits
/// there. Here every operation is O(1) at any length: nodes in a slab, one list per origin and class, and per
/// class a ring of the lists that may start.
///
/// Order: inside one origin and class first in, first out; inside a class the origins with a free slot take
/// turns, those with an element that goes first before the others; between classes see `ClassTurns`.
///
/// Limits: `maximumConcurrent` in all (256 unless told; as many again may stand aside), each origin's own, and 16 origins at
/// once whose name
/// is not resolved yet, with one running element each: libcurl starts a thread per unresolved name.
///
/// A value without a clock, a lock or I/O; the loop thread owns it.
struct AdmissionQueue<Element> {
  /// How many may run at once, all origins together. Default 256. Lowering it stops nothing that runs.
  var maximumConcurrent: Int
  /// How many may stand aside at once; nil: as many as may run.
  var maximumAside: Int?
  /// How many origins without a resolved name may run at once. Default 16.
  let maximumUnresolved: Int
  /// While true, `next()` answers nil. Default false.
  var isSuspended = false
  /// While true, only elements that go first leave it. Default false.
  var isForFirstOnly = false
  /// Elements waiting.
  var count = 0
  /// Elements admitted and not finished, without those that stand aside.
  var running = 0
  /// Elements that count for their origin alone.
  private(set) var aside = 0

  var nodes = WaitingNodes<Element>()
  var rings = ReadyRings()
  var turns = ClassTurns()
  var origins: [AdmissionOrigin] = []
  var freeOrigins: [UInt32] = []
  /// Unresolved origins with a running element.
  var unresolvedRunning = 0
  var waitingByClass = InlineArray<4, Int>(repeating: 0)
  /// A single counter for all slots, so storage can be given back without forgetting which tickets are stale.
  var generation: UInt32 = 0

  init(maximumConcurrent: Int = 256, maximumUnresolved: Int = 16) {
    self.maximumConcurrent = maximumConcurrent
    self.maximumUnresolved = maximumUnresolved
  }

  /// Waiting elements for which memory is held; follows `count` down, in steps of 4,096.
  var capacity: Int { nodes.capacity }

  /// Admits the element whose turn it is and counts it as running; nil when nothing may start now. Call it
  /// until it answers nil after anything that can free a slot or add work.
  mutating func next() -> (element: Element, origin: OriginID)? {
    guard count > 0, !isSuspended, running < maximumConcurrent,
      let priority = turns.take(
        among: rings.classes(unresolvedMayStart: unresolvedMayStart, firstOnly: isForFirstOnly)),
      let lane = rings.front(priority, unresolvedMayStart: unresolvedMayStart)
    else { return nil }
    let origin = OriginID(lane >> 2)
    let element = take(rings[lane].head)
    didStart(origin, lane)
    return element.map { ($0, origin) }
  }

  /// An element might start but for `maximumConcurrent`, if it goes first where others may not.
  var isHeldUp: Bool {
    guard !isSuspended, running >= maximumConcurrent else { return false }
    return rings.classes(unresolvedMayStart: unresolvedMayStart, firstOnly: false) != 0
  }

  /// Has a running element make room for others, its own origin's aside; false when as many as may run stand aside.
  mutating func standAside() -> Bool {
    guard aside < maximumAside ?? maximumConcurrent, running > 0 else { return false }
    aside += 1
    running -= 1
    return true
  }

  /// Counts an element again that stood aside.
  mutating func comeBack() {
    aside -= 1
    running += 1
  }

  /// An admitted element of the origin has ended, whatever its outcome: its slot is free.
  mutating func finished(_ origin: OriginID) {
    let slot = checked(origin)
    precondition(origins[slot].running > 0, "an origin finished more elements than were admitted")
    origins[slot].running -= 1
    running -= 1
    if !origins[slot].isResolved { unresolvedRunning -= 1 }
    refresh(origin)
  }

  /// Has an element that was finished go on without a turn, whatever the limits: it has been here before.
  mutating func goesOn(_ origin: OriginID) {
    let slot = checked(origin)
    running += 1
    origins[slot].running += 1
    if !origins[slot].isResolved { unresolvedRunning += 1 }
    refresh(origin)
  }

  private mutating func didStart(_ origin: OriginID, _ lane: UInt32) {
    let slot = Int(origin.rawValue)
    running += 1
    origins[slot].running += 1
    if !origins[slot].isResolved { unresolvedRunning += 1 }
    // Out and, if it may start another, in again: at the end of the ring, so the others come first.
    if rings[lane].isReady { rings.leave(lane, isResolved: origins[slot].isResolved) }
    rings[lane].goesFirst = false
    refresh(origin)
  }

  private var unresolvedMayStart: Bool { unresolvedRunning < maximumUnresolved }

  /// Brings the ring membership of all the origin's lanes in line with its slots. Empty lanes are in no ring.
  mutating func refresh(_ origin: OriginID) {
    if origins[Int(origin.rawValue)].waiting == 0 { return }
    let first = ReadyRings.lane(origin.rawValue, .low)
    for lane in first..<first + 4 where !rings[lane].isEmpty { refresh(lane: lane) }
  }

  /// A lane is in its ring exactly when it holds work and its origin has a free slot.
  mutating func refresh(lane: UInt32) {
    let origin = origins[Int(lane >> 2)]
    let mayStart = !rings[lane].isEmpty && origin.hasFreeSlot
    guard mayStart != rings[lane].isReady else { return }
    if mayStart {
      rings.join(lane, isResolved: origin.isResolved)
    } else {
      rings.leave(lane, isResolved: origin.isResolved)
    }
  }

  /// Adds an element behind, or before, all others of its origin and class.
  /// - Parameter goesFirst: it comes before all others of its class, also at other origins, but for those that went first
  ///   before it.
  mutating func enqueue(
    _ element: Element, origin: OriginID, priority: NetworkRequest.Priority, atFront: Bool = false,
    goesFirst: Bool = false
  ) -> Ticket {
    let slot = checked(origin)
    generation &+= 1
    let lane = ReadyRings.lane(origin.rawValue, priority)
    let index = nodes.insert(element, lane: lane, generation: generation)
    count += 1
    origins[slot].waiting += 1
    if goesFirst { setFirst(lane, true) }
    link(index, into: lane, atFront: atFront || goesFirst)
    return Ticket(index: index, generation: generation)
  }

  /// Takes a waiting element out; nil if it has left already.
  @discardableResult
  mutating func remove(_ ticket: Ticket) -> Element? { isWaiting(ticket) ? take(ticket.index) : nil }

  /// Moves a waiting element to the end of another class of its origin; in its own class it keeps its place.
  /// False if it has left already.
  @discardableResult
  mutating func reprioritise(_ ticket: Ticket, to priority: NetworkRequest.Priority) -> Bool {
    guard isWaiting(ticket) else { return false }
    let lane = nodes[ticket.index].lane & ~3 | UInt32(priority.rawValue)
    guard lane != nodes[ticket.index].lane else { return true }
    unlink(ticket.index)
    nodes[ticket.index].lane = lane
    link(ticket.index, into: lane, atFront: false)
    return true
  }

  /// Has a waiting element go first, before those that do already at its origin; nothing if it has left.
  mutating func letGoFirst(_ ticket: Ticket) {
    guard isWaiting(ticket) else { return }
    let lane = nodes[ticket.index].lane
    // Else the lane has others: it stays where it is among those that wait for their turn.
    if rings[lane].head != ticket.index {
      unlink(ticket.index)
      link(ticket.index, into: lane, atFront: true)
    }
    setFirst(lane, true)
  }

  private mutating func setFirst(_ lane: UInt32, _ goesFirst: Bool) {
    rings.set(lane, goesFirst: goesFirst, isResolved: origins[Int(lane >> 2)].isResolved)
  }

  /// An element might start, but none that goes first.
  var lacksFirst: Bool {
    !isSuspended && running < maximumConcurrent && count > 0
      && rings.classes(unresolvedMayStart: unresolvedMayStart, firstOnly: true) == 0
  }

  /// True if the ticket's element still waits here.
  func isWaiting(_ ticket: Ticket) -> Bool { element(ticket) != nil }

  /// The ticket's element; nil if it has left.
  func element(_ ticket: Ticket) -> Element? {
    guard nodes.holds(ticket.index), nodes[ticket.index].generation == ticket.generation else { return nil }
    return nodes[ticket.index].element
  }

  /// The class of a waiting element whose origin has a free slot; nil for others.
  func readyClass(_ ticket: Ticket) -> NetworkRequest.Priority? {
    guard isWaiting(ticket), rings[nodes[ticket.index].lane].isReady else { return nil }
    return ReadyRings.priority(of: nodes[ticket.index].lane)
  }

  /// Visits some of an origin's waiting elements of a class, from the first on or from one that still waits there; answers
  /// where the rest begins. The body must not change the queue.
  func visit(
    at origin: OriginID, _ priority: NetworkRequest.Priority, from start: Ticket?, atMost count: Int,
    _ body: (Element) -> Void
  ) -> Ticket? {
    var index = start?.index ?? rings[ReadyRings.lane(origin.rawValue, priority)].head
    for _ in 0..<count where index != noIndex {
      if let element = nodes[index].element { body(element) }
      index = nodes[index].next
    }
    return index == noIndex ? nil : Ticket(index: index, generation: nodes[index].generation)
  }

  /// Takes the node out of its lane and frees it.
  mutating func take(_ index: UInt32) -> Element? {
    unlink(index)
    origins[Int(nodes[index].lane >> 2)].waiting -= 1
    count -= 1
    return nodes.remove(index)
  }

  private mutating func link(_ index: UInt32, into lane: UInt32, atFront: Bool) {
    var ends = rings[lane]
    let (previous, next) = atFront ? (noIndex, ends.head) : (ends.tail, noIndex)
    nodes[index].previous = previous
    nodes[index].next = next
    if previous == noIndex { ends.head = index } else { nodes[previous].next = index }
    if next == noIndex { ends.tail = index } else { nodes[next].previous = index }
    rings[lane] = ends
    if waitingByClass[Int(lane & 3)] == 0 { turns.didArrive(ReadyRings.priority(of: lane)) }
    waitingByClass[Int(lane & 3)] += 1
    refresh(lane: lane)
  }

  private mutating func unlink(_ index: UInt32) {
    let (lane, previous, next) = (nodes[index].lane, nodes[index].previous, nodes[index].next)
    var ends = rings[lane]
    if previous == noIndex { ends.head = next } else { nodes[previous].next = next }
    if next == noIndex { ends.tail = previous } else { nodes[next].previous = previous }
    rings[lane] = ends
    waitingByClass[Int(lane & 3)] -= 1
    guard ends.isEmpty else {
      // It was this one that was to go first.
      if previous == noIndex { setFirst(lane, false) }
      return
    }
    refresh(lane: lane)
    rings[lane].goesFirst = false
  }
}

extension AdmissionQueue: Sendable where Element: Sendable {}

/// What an `AdmissionQueue` knows of one origin.
struct AdmissionOrigin: Sendable {
  var limit: Int
  var isResolved: Bool
  var isRegistered = true
  var running = 0
  var waiting = 0

  /// Another element may start, as far as this origin is concerned.
  var hasFreeSlot: Bool { running < (isResolved ? limit : min(limit, 1)) }
}

extension AdmissionQueue {
  /// Registers an origin.
  ///
  /// - Parameters:
  ///   - limit: how many of its elements may run at once; 0 holds it.
  ///   - resolved: false while its name has not been resolved: it then runs one element at a time and
  ///     counts against `maximumUnresolved`, until `markResolved`.
  mutating func addOrigin(limit: Int, resolved: Bool = true) -> OriginID {
    let origin = AdmissionOrigin(limit: limit, isResolved: resolved)
    if let free = freeOrigins.popLast() {
      origins[Int(free)] = origin
      return OriginID(free)
    }
    origins.append(origin)
    rings.addOrigin()
    return OriginID(UInt32(origins.count - 1))
  }

  /// Forgets an origin; its number may be given to another. False, and nothing changes, while it has waiting
  /// or running elements.
  @discardableResult
  mutating func removeOrigin(_ origin: OriginID) -> Bool {
    let slot = checked(origin)
    guard origins[slot].waiting == 0, origins[slot].running == 0 else { return false }
    origins[slot].isRegistered = false
    freeOrigins.append(origin.rawValue)
    return true
  }

  /// Changes how many may run at once; 0 holds the origin. Stops nothing that runs.
  mutating func setLimit(_ limit: Int, for origin: OriginID) {
    origins[checked(origin)].limit = limit
    refresh(origin)
  }

  /// The origin's name is known: from now on only its limit counts.
  mutating func markResolved(_ origin: OriginID) {
    let slot = checked(origin)
    guard !origins[slot].isResolved else { return }
    let first = ReadyRings.lane(origin.rawValue, .low)
    for lane in first..<first + 4 where rings[lane].isReady { rings.leave(lane, isResolved: false) }
    origins[slot].isResolved = true
    if origins[slot].running > 0 { unresolvedRunning -= 1 }
    refresh(origin)
  }

  func running(at origin: OriginID) -> Int { origins[checked(origin)].running }
  func waiting(at origin: OriginID) -> Int { origins[checked(origin)].waiting }

  func checked(_ origin: OriginID) -> Int {
    let slot = Int(origin.rawValue)
    precondition(
      slot < origins.count && origins[slot].isRegistered,
      "an origin was used in an admission queue that it is not, or no longer, registered with")
    return slot
  }
}
