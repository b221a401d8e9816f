/// Knows which operations wait for which others to end, to say who may go. Holds only what has not ended: an identifier enters
/// with its first edge and leaves with `remove`, and must not come back. Who waits for itself `WaitGraph` finds.
struct DependencyGraph<ID: Hashable & Sendable>: Sendable {
  private struct Node: Sendable {
    /// What it still waits for.
    var prerequisites: Set<ID> = []
    /// The operations that wait for it, oldest edge first. Those that ended early stay until `stale` outweighs the
    /// rest: searching for each would make a million cancels quadratic.
    var dependents: [ID] = []
    var stale = 0
  }

  private var nodes: [ID: Node] = [:]

  var isEmpty: Bool { nodes.isEmpty }

  /// Whether the operation waits for another.
  func isBlocked(_ id: ID) -> Bool { nodes[id].map { !$0.prerequisites.isEmpty } ?? false }

  /// Makes `dependent` wait until `prerequisite` has ended; twice is the same as once.
  mutating func add(_ dependent: ID, after prerequisite: ID) {
    guard nodes[dependent, default: Node()].prerequisites.insert(prerequisite).inserted else { return }
    nodes[prerequisite, default: Node()].dependents.append(dependent)
  }

  /// The operation has ended, whatever its outcome, even before it was released. Who waited for it, in the order of their
  /// edges, is to be released, and what it waited for must `forget` it: one after the other, as time allows.
  mutating func remove(_ id: ID) -> (dependents: [ID], prerequisites: [ID]) {
    guard let node = nodes.removeValue(forKey: id) else { return ([], []) }
    return (node.dependents, Array(node.prerequisites))
  }

  /// One that waited need not wait for an ended one any longer; true when it now waits for nothing.
  mutating func release(_ dependent: ID, from id: ID) -> Bool {
    guard nodes[dependent]?.prerequisites.remove(id) != nil else { return false }
    guard !isBlocked(dependent) else { return false }
    dropIfLoose(dependent)
    return true
  }

  /// One that waited has ended itself.
  mutating func forget(_ dependent: ID, under prerequisite: ID) {
    guard var node = nodes.removeValue(forKey: prerequisite) else { return }
    node.stale += 1
    if node.stale * 2 > node.dependents.count {
      node.dependents.removeAll { nodes[$0]?.prerequisites.contains(prerequisite) != true }
      node.stale = 0
    }
    nodes[prerequisite] = node
    dropIfLoose(prerequisite)
  }

  /// A node without edges is not worth remembering.
  private mutating func dropIfLoose(_ id: ID) {
    guard let node = nodes[id], node.prerequisites.isEmpty, node.dependents.isEmpty else { return }
    nodes[id] = nil
  }
}
