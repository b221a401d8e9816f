/// The waiting elements of one origin in one class: a list, and the place among those whose turn may come.
struct Lane: Sendable {
  var head = noIndex
  var tail = noIndex
  var ringPrevious = noIndex
  var ringNext = noIndex
  /// When it joined the ring; the ring's head has waited longest for its turn.
  var joined: UInt64 = 0
  /// Its next turn comes before those of lanes without this.
  var goesFirst = false

  var isEmpty: Bool { head == noIndex }
  var isReady: Bool { ringNext != noIndex }
}

/// All lanes, and per class the rings of those that may start: work waits and the origin has a free slot.
///
/// Each class has two rings, for origins whose name is resolved and for the others. The cap on unresolved
/// origins then closes or opens all of the latter by one comparison, instead of moving each of them. Before
/// these come two of the same kind, for the lanes that go first.
struct ReadyRings: Sendable {
  private var lanes: [Lane] = []
  private var heads = InlineArray<16, UInt32>(repeating: noIndex)
  /// A bit for each ring that has a lane.
  private var occupied: UInt16 = 0
  private var joins: UInt64 = 0

  subscript(lane: UInt32) -> Lane {
    get { lanes[Int(lane)] }
    set { lanes[Int(lane)] = newValue }
  }

  static func lane(_ origin: UInt32, _ priority: NetworkRequest.Priority) -> UInt32 {
    origin << 2 | UInt32(priority.rawValue)
  }

  static func priority(of lane: UInt32) -> NetworkRequest.Priority {
    NetworkRequest.Priority(rawValue: UInt8(lane & 3)) ?? .urgent
  }

  /// Adds the four lanes of the next origin.
  mutating func addOrigin() {
    for _ in NetworkRequest.Priority.allCases { lanes.append(Lane()) }
  }

  /// The lane of a class whose turn it is: the one that joined first, of those that go first where there are
  /// such, in the resolved ring or, when those may start, in the unresolved one.
  func front(_ priority: NetworkRequest.Priority, unresolvedMayStart: Bool) -> UInt32? {
    front(priority, goesFirst: true, unresolvedMayStart)
      ?? front(priority, goesFirst: false, unresolvedMayStart)
  }

  private func front(
    _ priority: NetworkRequest.Priority, goesFirst: Bool, _ unresolvedMayStart: Bool
  ) -> UInt32? {
    let ring = Self.ring(priority, goesFirst: goesFirst, isResolved: true)
    let resolved = heads[ring]
    let unresolved = unresolvedMayStart ? heads[ring + 1] : noIndex
    switch (resolved, unresolved) {
    case (noIndex, noIndex): return nil
    case (_, noIndex): return resolved
    case (noIndex, _): return unresolved
    default: return self[resolved].joined < self[unresolved].joined ? resolved : unresolved
    }
  }

  /// The classes that have such a lane: bit 0 for the lowest, bit 4 for the next, bit 8, bit 12.
  func classes(unresolvedMayStart: Bool, firstOnly: Bool) -> UInt16 {
    let either = unresolvedMayStart ? occupied | occupied >> 1 : occupied
    return (firstOnly ? either : either | either >> 2) & 0b0001_0001_0001_0001
  }

  /// Puts a lane at the end of its ring.
  mutating func join(_ lane: UInt32, isResolved: Bool) {
    let ring = ring(of: lane, isResolved: isResolved)
    let head = heads[ring] == noIndex ? lane : heads[ring]
    heads[ring] = head
    occupied |= 1 << UInt16(ring)
    joins += 1
    lanes[Int(lane)].joined = joins
    let tail = head == lane ? lane : lanes[Int(head)].ringPrevious
    lanes[Int(lane)].ringNext = head
    lanes[Int(lane)].ringPrevious = tail
    lanes[Int(tail)].ringNext = lane
    lanes[Int(head)].ringPrevious = lane
  }

  mutating func leave(_ lane: UInt32, isResolved: Bool) {
    let ring = ring(of: lane, isResolved: isResolved)
    let (previous, next) = (lanes[Int(lane)].ringPrevious, lanes[Int(lane)].ringNext)
    if next == lane { occupied &= ~(1 << UInt16(ring)) }
    if heads[ring] == lane { heads[ring] = next == lane ? noIndex : next }
    lanes[Int(previous)].ringNext = next
    lanes[Int(next)].ringPrevious = previous
    lanes[Int(lane)].ringNext = noIndex
    lanes[Int(lane)].ringPrevious = noIndex
  }

  /// Has the next turn of a lane come before others', or no longer.
  mutating func set(_ lane: UInt32, goesFirst: Bool, isResolved: Bool) {
    guard self[lane].goesFirst != goesFirst else { return }
    let isReady = self[lane].isReady
    if isReady { leave(lane, isResolved: isResolved) }
    lanes[Int(lane)].goesFirst = goesFirst
    if isReady { join(lane, isResolved: isResolved) }
  }

  private func ring(of lane: UInt32, isResolved: Bool) -> Int {
    Self.ring(Self.priority(of: lane), goesFirst: self[lane].goesFirst, isResolved: isResolved)
  }

  private static func ring(_ priority: NetworkRequest.Priority, goesFirst: Bool, isResolved: Bool) -> Int {
    Int(priority.rawValue) << 2 | (goesFirst ? 0 : 2) | (isResolved ? 0 : 1)
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

  /// Gives the turn to one of the classes that may start now (`ReadyRings.classes`), and charges it.
  ///
  /// A class that could not start though it had work (its origins were full) is at most one turn behind:
  /// enough to be never passed over for ever, too little to hold up an urgent arrival.
  mutating func take(among classes: UInt16) -> NetworkRequest.Priority? {
    var chosen: NetworkRequest.Priority?
    var earliest = Int.max
    var left = classes
    while left != 0 {
      let priority = ReadyRings.priority(of: UInt32(left.trailingZeroBitCount / 4))
      left &= left - 1
      let time = max(due[Int(priority.rawValue)], clock - Self.cost(of: priority))
      if time <= earliest { (chosen, earliest) = (priority, time) }
    }
    guard let chosen else { return nil }
    clock = max(clock, earliest)
    due[Int(chosen.rawValue)] = earliest + Self.cost(of: chosen)
    return chosen
  }
}

/// "No such index" in every list of the admission queue.
let noIndex = UInt32.max

/// A waiting element: a link of its lane's doubly linked list. 24 bytes for a class reference, 32 for an
/// `Int`; this times the queue's length is what waiting costs.
struct WaitingNode<Element> {
  /// Nil while the node is free; then `next` is the chunk's next free node.
  var element: Element?
  var previous: UInt32
  var next: UInt32
  /// Origin and class in one number: `origin * 4 + priority`.
  var lane: UInt32
  var generation: UInt32
}

/// The storage of waiting nodes, addressed by index, in chunks of 4,096.
///
/// Not one array: growing that to ten million nodes copies 240 MB in one step of the loop, and shrinking it
/// would have to move nodes that lists point to. A chunk never moves, and goes back to the allocator when its
/// last node is freed; one empty chunk is kept, so that a queue that hovers around a boundary does not
/// allocate each time.
struct WaitingNodes<Element> {
  fileprivate struct Chunk {
    var nodes: [WaitingNode<Element>] = []
    var firstFree = noIndex
    var used = 0
    /// Neighbours in the list of chunks with room.
    var previous = noIndex
    var next = noIndex
  }

  static var chunkShift: UInt32 { 12 }
  static var chunkSize: Int { 1 << Int(chunkShift) }

  private var chunks: [Chunk] = []
  /// Chunks with room, newest first.
  private var firstOpen = noIndex
  /// Positions in `chunks` whose storage was given back.
  private var vacant: [UInt32] = []
  /// The one chunk that is kept though empty.
  private var spare = noIndex

  /// Nodes for which memory is held.
  var capacity: Int { (chunks.count - vacant.count) * Self.chunkSize }

  subscript(index: UInt32) -> WaitingNode<Element> {
    _read { yield chunks[Int(index >> Self.chunkShift)].nodes[Int(index) & (Self.chunkSize - 1)] }
    _modify { yield &chunks[Int(index >> Self.chunkShift)].nodes[Int(index) & (Self.chunkSize - 1)] }
  }

  /// True if there ever was a node at the index, in storage that is still held.
  func holds(_ index: UInt32) -> Bool {
    let chunk = Int(index >> Self.chunkShift)
    return chunk < chunks.count && Int(index) & (Self.chunkSize - 1) < chunks[chunk].nodes.count
  }

  mutating func insert(_ element: Element, lane: UInt32, generation: UInt32) -> UInt32 {
    let node = WaitingNode(
      element: element, previous: noIndex, next: noIndex, lane: lane, generation: generation)
    let chunk = openChunk()
    let index = place(node, in: chunk)
    chunks[Int(chunk)].used += 1
    if chunks[Int(chunk)].used == Self.chunkSize { close(chunk) }
    return index
  }

  /// Frees the node and hands back its element.
  mutating func remove(_ index: UInt32) -> Element? {
    let chunk = index >> Self.chunkShift
    let element = self[index].element.take()
    self[index].next = chunks[Int(chunk)].firstFree
    chunks[Int(chunk)].firstFree = index
    if chunks[Int(chunk)].used == Self.chunkSize { open(chunk) }
    chunks[Int(chunk)].used -= 1
    if chunks[Int(chunk)].used == 0 { retire(chunk) }
    return element
  }

  private mutating func place(_ node: WaitingNode<Element>, in chunk: UInt32) -> UInt32 {
    let free = chunks[Int(chunk)].firstFree
    guard free == noIndex else {
      chunks[Int(chunk)].firstFree = self[free].next
      self[free] = node
      return free
    }
    chunks[Int(chunk)].nodes.append(node)
    return chunk << Self.chunkShift + UInt32(chunks[Int(chunk)].nodes.count - 1)
  }

  private mutating func openChunk() -> UInt32 {
    if firstOpen == noIndex {
      let chunk = vacant.popLast() ?? UInt32(chunks.count)
      if chunk == chunks.count { chunks.append(Chunk()) }
      chunks[Int(chunk)].nodes.reserveCapacity(Self.chunkSize)
      open(chunk)
    }
    if spare == firstOpen { spare = noIndex }
    return firstOpen
  }

  private mutating func open(_ chunk: UInt32) {
    chunks[Int(chunk)].previous = noIndex
    chunks[Int(chunk)].next = firstOpen
    if firstOpen != noIndex { chunks[Int(firstOpen)].previous = chunk }
    firstOpen = chunk
  }

  private mutating func close(_ chunk: UInt32) {
    let (previous, next) = (chunks[Int(chunk)].previous, chunks[Int(chunk)].next)
    if previous == noIndex { firstOpen = next } else { chunks[Int(previous)].next = next }
    if next != noIndex { chunks[Int(next)].previous = previous }
  }

  private mutating func retire(_ chunk: UInt32) {
    guard spare != noIndex else { return spare = chunk }
    close(chunk)
    chunks[Int(chunk)] = Chunk()
    vacant.append(chunk)
  }
}

extension WaitingNode: Sendable where Element: Sendable {}
extension WaitingNodes.Chunk: Sendable where Element: Sendable {}
extension WaitingNodes: Sendable where Element: Sendable {}

/// A waiting element's place in an `AdmissionQueue`. Worth nothing once the element has left, and the queue
/// notices: every enqueue gets the next generation, so a reused slot never answers to an old ticket.
struct Ticket: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32
}

/// An origin registered with an `AdmissionQueue`. The number is reused after `removeOrigin`.
struct OriginID: Hashable, Sendable {
  let rawValue: UInt32

  init(_ rawValue: UInt32) { self.rawValue = rawValue }
}
