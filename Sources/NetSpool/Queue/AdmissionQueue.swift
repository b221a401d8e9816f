/// The priority queue that feeds the transfer layer by demand: what may run now leaves it, the rest waits here.
///
/// libcurl's own pending list costs 720 us per request at 100,000 entries (it is walked), so nothing waits
/// there. Here every operation is O(1) at any length: nodes in a slab, one list per origin and class, and per
/// class a ring of the lists that may start.
///
/// Order: inside one origin and class first in, first out; inside a class the origins with a free slot take
/// turns; between classes see `ClassTurns`.
///
/// Limits: `maximumConcurrent` in all (256 unless told), each origin's own, and 16 origins at once whose name
/// is not resolved yet, with one running element each: libcurl starts a thread per unresolved name.
///
/// A value without a clock, a lock or I/O; the loop thread owns it.
struct AdmissionQueue<Element> {
  /// How many may run at once, all origins together. Default 256. Lowering it stops nothing that runs.
  var maximumConcurrent: Int
  /// How many origins without a resolved name may run at once. Default 16.
  let maximumUnresolved: Int
  /// While true, `next()` answers nil. Default false.
  var isSuspended = false
  /// Elements waiting.
  var count = 0
  /// Elements admitted and not finished.
  var running = 0

  var nodes = WaitingNodes<Element>()
  var rings = ReadyRings()
  var turns = ClassTurns()
  var origins: [AdmissionOrigin] = []
  var freeOrigins: [UInt32] = []
  /// Unresolved origins with a running element.
  var unresolvedRunning = 0
  var waitingByClass = InlineArray<4, Int>(repeating: 0)
  /// One counter for all slots, so storage can be given back without forgetting which tickets are stale.
  var generation: UInt32 = 0

  init(maximumConcurrent: Int = 256, maximumUnresolved: Int = 16) {
    self.maximumConcurrent = maximumConcurrent
    self.maximumUnresolved = maximumUnresolved
  }

  /// Waiting elements for which memory is held; follows `count` down, in steps of 4,096.
  var capacity: Int { nodes.capacity }
}

extension AdmissionQueue: Sendable where Element: Sendable {}

extension AdmissionQueue {
  /// Admits the element whose turn it is and counts it as running; nil when nothing may start now. Call it
  /// until it answers nil after anything that can free a slot or add work.
  mutating func next() -> (element: Element, origin: OriginID)? {
    guard !isSuspended, running < maximumConcurrent, let priority = turns.take(among: readyClasses),
      let lane = rings.front(priority, unresolvedMayStart: unresolvedMayStart)
    else { return nil }
    let origin = OriginID(lane >> 2)
    let element = take(rings[lane].head)
    didStart(origin, lane)
    return element.map { ($0, origin) }
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

  /// One that was finished goes on without a turn, whatever the limits: it has been here before.
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
    refresh(origin)
  }

  private var unresolvedMayStart: Bool { unresolvedRunning < maximumUnresolved }

  private var readyClasses: InlineArray<4, Bool> {
    var ready = InlineArray<4, Bool>(repeating: false)
    for priority in NetworkRequest.Priority.allCases {
      ready[Int(priority.rawValue)] =
        rings.front(priority, unresolvedMayStart: unresolvedMayStart) != nil
    }
    return ready
  }
}

extension AdmissionQueue {
  /// Brings the ring membership of all the origin's lanes in line with its slots.
  mutating func refresh(_ origin: OriginID) {
    for priority in NetworkRequest.Priority.allCases {
      refresh(lane: ReadyRings.lane(origin.rawValue, priority))
    }
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

  mutating func leaveRings(_ origin: OriginID) {
    for priority in NetworkRequest.Priority.allCases {
      let lane = ReadyRings.lane(origin.rawValue, priority)
      if rings[lane].isReady { rings.leave(lane, isResolved: origins[Int(origin.rawValue)].isResolved) }
    }
  }
}
