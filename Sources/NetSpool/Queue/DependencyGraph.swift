/// Knows which operations wait for which others to end. Holds only what has not ended: an identifier enters with its
/// first edge and leaves with `finish`, and must not come back.
struct DependencyGraph<ID: Hashable & Sendable>: Sendable {
  /// What became of a new edge.
  enum AddResult: Hashable, Sendable {
    case added
    /// The edge was there already.
    case known
    /// Refused: the prerequisite waits, directly or not, for the dependent. The path leads from the dependent
    /// over the refused edge back to the dependent.
    case cycle([ID])
  }

  private struct Node: Sendable {
    /// What it still waits for.
    var prerequisites: Set<ID> = []
    /// The operations that wait for it, oldest edge first. Those that ended early stay until `stale` outweighs the
    /// rest: searching for each would make a million cancels quadratic.
    var dependents: [ID] = []
    var stale = 0
  }

  private var nodes: [ID: Node] = [:]
  /// Which way the edges lead, since there were none.
  private var leadsTo = (older: false, younger: false)
  private let age: @Sendable (ID) -> UInt64

  /// - Parameter age: a number of its own for each, in the order in which they were made.
  init(age: @escaping @Sendable (ID) -> UInt64) { self.age = age }

  var isEmpty: Bool { nodes.isEmpty }

  /// Whether the operation waits for another.
  func isBlocked(_ id: ID) -> Bool { nodes[id].map { !$0.prerequisites.isEmpty } ?? false }

  /// Makes `dependent` wait until `prerequisite` has ended. Costs nothing to speak of as long as all wait for older ones, or
  /// all for younger ones, in whatever order that is told: there can be no cycle then. Where some do and some do not, it costs the
  /// number of edges behind the prerequisite when something waits for the dependent already.
  mutating func add(_ dependent: ID, after prerequisite: ID) -> AddResult {
    if nodes[dependent]?.prerequisites.contains(prerequisite) == true { return .known }
    if nodes.isEmpty { leadsTo = (false, false) }
    if age(prerequisite) < age(dependent) { leadsTo.older = true } else { leadsTo.younger = true }
    if mayClose(dependent, prerequisite), let path = path(from: prerequisite, to: dependent) {
      return .cycle([dependent] + path)
    }
    nodes[dependent, default: Node()].prerequisites.insert(prerequisite)
    nodes[prerequisite, default: Node()].dependents.append(dependent)
    return .added
  }

  /// The operation has ended, whatever its outcome, even before it was released. Answers those that now wait
  /// for nothing, in the order of their edges.
  mutating func finish(_ id: ID) -> [ID] {
    guard let node = nodes.removeValue(forKey: id) else { return [] }
    for prerequisite in node.prerequisites { forget(id, under: prerequisite) }
    return node.dependents.filter { release($0, from: id) }
  }
}

extension DependencyGraph {
  /// A cycle needs edges both ways, an operation that waits for the dependent, and a prerequisite that waits itself.
  private func mayClose(_ dependent: ID, _ prerequisite: ID) -> Bool {
    if dependent == prerequisite { return true }
    guard leadsTo == (true, true) else { return false }
    return nodes[dependent]?.dependents.isEmpty == false && isBlocked(prerequisite)
  }

  /// The way from one operation to another along prerequisites, by depth-first search.
  private func path(from start: ID, to goal: ID) -> [ID]? {
    var cameFrom: [ID: ID] = [:]
    var open = [start]
    var seen: Set<ID> = [start]
    while let id = open.popLast() {
      if id == goal { return trace(from: start, to: goal, cameFrom) }
      for next in nodes[id]?.prerequisites ?? [] where seen.insert(next).inserted {
        cameFrom[next] = id
        open.append(next)
      }
    }
    return nil
  }

  private func trace(from start: ID, to goal: ID, _ cameFrom: [ID: ID]) -> [ID] {
    var path = [goal]
    while let last = path.last, last != start, let before = cameFrom[last] { path.append(before) }
    return path.reversed()
  }

  private mutating func release(_ dependent: ID, from id: ID) -> Bool {
    guard nodes[dependent]?.prerequisites.remove(id) != nil else { return false }
    guard !isBlocked(dependent) else { return false }
    dropIfLoose(dependent)
    return true
  }

  private mutating func forget(_ dependent: ID, under prerequisite: ID) {
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
