/// Knows which operations wait for which others to end: who may go, and who would wait for itself. Holds only what has an edge
/// and has not ended. Numbers are in the order in which operations were made, and none comes back after `remove`.
struct DependencyGraph<Operation: Sendable>: Sendable {
  struct Edge: Sendable {
    let dependent: UInt64
    let prerequisite: UInt64
  }

  private struct Node: Sendable {
    /// What it still waits for.
    var prerequisites: Set<UInt64> = []
    var dependents: Set<UInt64> = []
    /// The operation itself, once it has come to wait.
    var blocked: Operation?
  }

  private var nodes: [UInt64: Node] = [:]
  /// Since the graph was empty there have been edges to older operations, and to younger ones: a cycle needs both.
  private var hasOlder = false
  private var hasYounger = false
  /// The number of edges that were looked at in search of cycles.
  private(set) var looks = 0

  var isEmpty: Bool { nodes.isEmpty }

  /// Makes `dependent` wait until `prerequisite` has ended. False, and nothing is noted, when it would then wait for itself.
  mutating func add(_ dependent: UInt64, after prerequisite: UInt64) -> Bool {
    if dependent == prerequisite { return false }
    if prerequisite < dependent { hasOlder = true } else { hasYounger = true }
    if hasOlder, hasYounger, leads(from: prerequisite, to: dependent) { return false }
    nodes[dependent, default: Node()].prerequisites.insert(prerequisite)
    nodes[prerequisite, default: Node()].dependents.insert(dependent)
    return true
  }

  /// Keeps an operation that has to wait until `cut` gives it back. False when it has not.
  mutating func block(_ operation: Operation, as id: UInt64) -> Bool {
    guard nodes[id]?.prerequisites.isEmpty == false else { return false }
    nodes[id]?.blocked = operation
    return true
  }

  /// The operation has ended, whatever its outcome, even before it was released. Its edges, those of the oldest dependents
  /// first, are to be cut one after the other, as time allows.
  mutating func remove(_ id: UInt64) -> [Edge] {
    guard let node = nodes.removeValue(forKey: id) else { return [] }
    return node.dependents.sorted().map { Edge(dependent: $0, prerequisite: id) }
      + node.prerequisites.map { Edge(dependent: id, prerequisite: $0) }
  }

  /// Takes away what is left of an edge whose other end has been removed; returns the operation that waits for nothing now.
  mutating func cut(_ edge: Edge) -> Operation? {
    nodes[edge.prerequisite]?.dependents.remove(edge.dependent)
    dropIfLoose(edge.prerequisite)
    nodes[edge.dependent]?.prerequisites.remove(edge.prerequisite)
    guard nodes[edge.dependent]?.prerequisites.isEmpty == true else { return nil }
    defer { dropIfLoose(edge.dependent) }
    return nodes[edge.dependent]?.blocked.take()
  }

  private mutating func dropIfLoose(_ id: UInt64) {
    if let node = nodes[id], node.prerequisites.isEmpty, node.dependents.isEmpty { nodes[id] = nil }
    if nodes.isEmpty { (hasOlder, hasYounger) = (false, false) }
  }

  /// True if one waits for another. Looks from both sides in turn, until one of the two knows: so a chain that grows together
  /// from pieces, in whatever order, costs each time the shorter piece.
  private mutating func leads(from start: UInt64, to end: UInt64) -> Bool {
    var ahead = Walk(from: start) { $0.prerequisites }
    var back = Walk(from: end) { $0.dependents }
    while let prerequisite = ahead.next(in: nodes), let dependent = back.next(in: nodes) {
      looks += 2
      if prerequisite == end || dependent == start { return true }
    }
    return false
  }

  /// Goes along all edges that can be reached in one direction, each once.
  private struct Walk {
    private let edges: (Node) -> Set<UInt64>
    private var open: [Set<UInt64>.Iterator] = []
    private var seen: Set<UInt64> = []
    private var last: UInt64

    init(from start: UInt64, _ edges: @escaping (Node) -> Set<UInt64>) { (last, self.edges) = (start, edges) }

    /// Nil when it has been everywhere.
    mutating func next(in nodes: [UInt64: Node]) -> UInt64? {
      if seen.insert(last).inserted, let node = nodes[last] { open.append(edges(node).makeIterator()) }
      while let top = open.indices.last {
        if let id = open[top].next() {
          last = id
          return id
        }
        open.removeLast()
      }
      return nil
    }
  }
}
