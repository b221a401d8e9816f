/// The waiting elements of one origin in one class: a list, and the place among those whose turn may come.
struct Lane: Sendable {
  var head = noIndex
  var tail = noIndex
  var ringPrevious = noIndex
  var ringNext = noIndex
  /// When it joined the ring; the ring's head has waited longest for its turn.
  var joined: UInt64 = 0

  var isEmpty: Bool { head == noIndex }
  var isReady: Bool { ringNext != noIndex }
}

/// All lanes, and per class the rings of those that may start: work waits and the origin has a free slot.
///
/// Each class has two rings, for origins whose name is resolved and for the others. The cap on unresolved
/// origins then closes or opens all of the latter by one comparison, instead of moving each of them.
struct ReadyRings: Sendable {
  private var lanes: [Lane] = []
  private var heads = InlineArray<8, UInt32>(repeating: noIndex)
  private var joins: UInt64 = 0

  subscript(lane: UInt32) -> Lane {
    get { lanes[Int(lane)] }
    set { lanes[Int(lane)] = newValue }
  }

  static func lane(_ origin: UInt32, _ priority: NetworkRequest.Priority) -> UInt32 {
    origin << 2 | UInt32(priority.rawValue)
  }

  static func priority(of lane: UInt32) -> NetworkRequest.Priority {
    switch lane & 3 {
    case 0: .low
    case 1: .normal
    case 2: .high
    default: .urgent
    }
  }

  /// Adds the four lanes of the next origin.
  mutating func addOrigin() {
    for _ in NetworkRequest.Priority.allCases { lanes.append(Lane()) }
  }

  /// The lane of a class whose turn it is: the one that joined first, in the resolved ring or, when those may
  /// start, in the unresolved one.
  func front(_ priority: NetworkRequest.Priority, unresolvedMayStart: Bool) -> UInt32? {
    let resolved = heads[ring(priority, isResolved: true)]
    let unresolved = unresolvedMayStart ? heads[ring(priority, isResolved: false)] : noIndex
    switch (resolved, unresolved) {
    case (noIndex, noIndex): return nil
    case (_, noIndex): return resolved
    case (noIndex, _): return unresolved
    default: return self[resolved].joined < self[unresolved].joined ? resolved : unresolved
    }
  }

  /// Puts a lane at the end of its ring.
  mutating func join(_ lane: UInt32, isResolved: Bool) {
    let ring = ring(Self.priority(of: lane), isResolved: isResolved)
    let head = heads[ring] == noIndex ? lane : heads[ring]
    heads[ring] = head
    joins += 1
    lanes[Int(lane)].joined = joins
    let tail = head == lane ? lane : lanes[Int(head)].ringPrevious
    lanes[Int(lane)].ringNext = head
    lanes[Int(lane)].ringPrevious = tail
    lanes[Int(tail)].ringNext = lane
    lanes[Int(head)].ringPrevious = lane
  }

  mutating func leave(_ lane: UInt32, isResolved: Bool) {
    let ring = ring(Self.priority(of: lane), isResolved: isResolved)
    let (previous, next) = (lanes[Int(lane)].ringPrevious, lanes[Int(lane)].ringNext)
    if heads[ring] == lane { heads[ring] = next == lane ? noIndex : next }
    lanes[Int(previous)].ringNext = next
    lanes[Int(next)].ringPrevious = previous
    lanes[Int(lane)].ringNext = noIndex
    lanes[Int(lane)].ringPrevious = noIndex
  }

  private func ring(_ priority: NetworkRequest.Priority, isResolved: Bool) -> Int {
    Int(priority.rawValue) * 2 + (isResolved ? 0 : 1)
  }
}

/// Says which class starts next: each gets slots by its weight, and an urgent arrival goes first.
///
/// Start-time fair queueing: a turn costs a class virtual time in inverse proportion to its weight, and the
/// class that is due earliest goes, the more urgent one on a tie. Weights: urgent 20, high 10, normal 5, low 2;
/// so low keeps 2/37, more than 5 %, against all others at once. Not smooth weighted round robin: its credits
/// would have to be settled whenever the set of classes changes, and here it changes at almost every turn.
struct ClassTurns: Sendable {
  /// The due time of the last turn given.
  private var clock = 0
  private var due = InlineArray<4, Int>(repeating: 0)

  /// Virtual time of one turn: 20 divided by the weight.
  static func cost(of priority: NetworkRequest.Priority) -> Int {
    switch priority {
    case .urgent: 1
    case .high: 2
    case .normal: 4
    case .low: 10
    }
  }

  /// The class had nothing waiting and now has. An urgent one is due at once, the others after a wait by their
  /// weight: the past owes them nothing. What a class itself overdrew still counts, so elements that arrive
  /// one by one cannot starve the other classes.
  mutating func didArrive(_ priority: NetworkRequest.Priority) {
    let wait = Self.cost(of: priority) - Self.cost(of: .urgent)
    due[Int(priority.rawValue)] = max(due[Int(priority.rawValue)], clock + wait)
  }

  /// Gives the turn to one of the classes that may start now, and charges it.
  ///
  /// A class that could not start though it had work (its origins were full) is at most one turn behind:
  /// enough to be never passed over for ever, too little to hold up an urgent arrival.
  mutating func take(among isReady: InlineArray<4, Bool>) -> NetworkRequest.Priority? {
    var chosen: NetworkRequest.Priority?
    var earliest = Int.max
    for priority in NetworkRequest.Priority.allCases where isReady[Int(priority.rawValue)] {
      let time = max(due[Int(priority.rawValue)], clock - Self.cost(of: priority))
      if time <= earliest { (chosen, earliest) = (priority, time) }
    }
    guard let chosen else { return nil }
    clock = max(clock, earliest)
    due[Int(chosen.rawValue)] = earliest + Self.cost(of: chosen)
    return chosen
  }
}
