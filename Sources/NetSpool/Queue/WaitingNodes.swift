/// "No such index" in every list of the admission queue.
let noIndex = UInt32.max

/// One waiting element: a link of its lane's doubly linked list. 24 bytes for a class reference, 32 for an
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

  /// Whether there ever was a node at the index, in storage that is still held.
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
}

extension WaitingNodes {
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
