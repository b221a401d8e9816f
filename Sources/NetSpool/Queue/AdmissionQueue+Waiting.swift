extension AdmissionQueue {
  /// Adds an element behind, or before, all others of its origin and class.
  mutating func enqueue(
    _ element: Element, origin: OriginID, priority: NetworkRequest.Priority, atFront: Bool = false
  ) -> Ticket {
    let slot = checked(origin)
    generation &+= 1
    let lane = ReadyRings.lane(origin.rawValue, priority)
    let index = nodes.insert(element, lane: lane, generation: generation)
    count += 1
    origins[slot].waiting += 1
    link(index, into: lane, atFront: atFront)
    return Ticket(index: index, generation: generation)
  }

  /// Takes a waiting element out; nil if it has left already.
  @discardableResult
  mutating func remove(_ ticket: Ticket) -> Element? {
    isWaiting(ticket) ? take(ticket.index) : nil
  }

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

  /// Whether the ticket's element still waits here.
  func isWaiting(_ ticket: Ticket) -> Bool {
    guard nodes.holds(ticket.index) else { return false }
    return nodes[ticket.index].generation == ticket.generation && nodes[ticket.index].element != nil
  }

  /// The element of an origin and class whose turn is next.
  func first(at origin: OriginID, _ priority: NetworkRequest.Priority) -> Element? {
    let head = rings[ReadyRings.lane(origin.rawValue, priority)].head
    return head == noIndex ? nil : nodes[head].element
  }

  /// Visits every waiting element: by origin, the urgent first, in order. Costs the length of the queue.
  /// The body must not change the queue; collect the tickets and remove them afterwards.
  func forEachWaiting<E: Error>(_ body: (Ticket, Element) throws(E) -> Void) throws(E) {
    for origin in origins.indices where origins[origin].waiting > 0 {
      for priority in NetworkRequest.Priority.allCases.reversed() {
        try forEachWaiting(in: ReadyRings.lane(UInt32(origin), priority), body)
      }
    }
  }

  private func forEachWaiting<E: Error>(
    in lane: UInt32, _ body: (Ticket, Element) throws(E) -> Void
  ) throws(E) {
    var index = rings[lane].head
    while index != noIndex {
      let node = nodes[index]
      if let element = node.element {
        try body(Ticket(index: index, generation: node.generation), element)
      }
      index = node.next
    }
  }
}

extension AdmissionQueue {
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
    didLink(lane)
  }

  private mutating func unlink(_ index: UInt32) {
    let (lane, previous, next) = (nodes[index].lane, nodes[index].previous, nodes[index].next)
    var ends = rings[lane]
    if previous == noIndex { ends.head = next } else { nodes[previous].next = next }
    if next == noIndex { ends.tail = previous } else { nodes[next].previous = previous }
    rings[lane] = ends
    waitingByClass[Int(lane & 3)] -= 1
    if ends.isEmpty { refresh(lane: lane) }
  }

  private mutating func didLink(_ lane: UInt32) {
    if waitingByClass[Int(lane & 3)] == 0 { turns.didArrive(ReadyRings.priority(of: lane)) }
    waitingByClass[Int(lane & 3)] += 1
    refresh(lane: lane)
  }
}
