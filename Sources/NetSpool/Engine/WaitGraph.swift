internal import Synchronization

/// Which operations of the process wait for which others, whatever their queues: to find those that wait for themselves. Any
/// thread; no lock is held for longer than it takes to note or read one operation's edges.
///
/// Whoever adds an edge looks for a way back afterwards, if one can be there. So of those that close a cycle at the same moment
/// the last to note its edge finds all of it, whatever the others do.
final class WaitGraph: Sendable {
  static let ofProcess = WaitGraph()

  fileprivate enum Way { case prerequisites, dependents }

  private struct Node {
    var prerequisites: [UInt64] = []
    /// The operations that wait for it; ended ones stay until this one ends.
    var dependents: [UInt64] = []
  }

  private final class Shard: Sendable {
    let nodes = Mutex<[UInt64: Node]>([:])
  }

  private let shards = (0..<64).map { _ in Shard() }
  /// How many edges there are to older operations, and in the upper half to younger ones. One number, so that the last to change
  /// it knows of all others.
  private let edges = Atomic<UInt64>(0)

  private func shard(_ id: UInt64) -> Shard { shards[Int(id % 64)] }

  /// Notes that one waits for another; numbers are in the order in which operations were made. True when that may close a cycle,
  /// which needs edges to older ones and to younger ones: then `CycleSearch` says whether it does.
  func add(_ dependent: UInt64, after prerequisite: UInt64) -> Bool {
    shard(dependent).nodes.withLock { $0[dependent, default: Node()].prerequisites.append(prerequisite) }
    shard(prerequisite).nodes.withLock { $0[prerequisite, default: Node()].dependents.append(dependent) }
    let count = edges.add(Self.edge(dependent, prerequisite), ordering: .acquiringAndReleasing).newValue
    return dependent == prerequisite || count >> 32 > 0 && count & 0xFFFF_FFFF > 0
  }

  private static func edge(_ dependent: UInt64, _ prerequisite: UInt64) -> UInt64 {
    prerequisite < dependent ? 1 : 1 << 32
  }

  /// Removes an operation that has ended, or never will.
  func remove(_ id: UInt64) {
    guard let node = shard(id).nodes.withLock({ $0.removeValue(forKey: id) }) else { return }
    let count = node.prerequisites.reduce(0) { $0 + Self.edge(id, $1) }
    if count > 0 { edges.subtract(count, ordering: .acquiringAndReleasing) }
  }

  var isEmpty: Bool { shards.allSatisfy { $0.nodes.withLock { $0.isEmpty } } }

  fileprivate func others(_ way: Way, of id: UInt64) -> [UInt64] {
    let node = shard(id).nodes.withLock { $0[id] }
    return (way == .dependents ? node?.dependents : node?.prerequisites) ?? []
  }
}

/// Looks for a way from an operation back to itself: over those that it waits for and over those that wait for it, in turn, until
/// one of the two knows. So a chain that grows together from pieces, in whatever order, costs each time the shorter piece.
struct CycleSearch {
  enum Result { case cycle, none, goesOn }

  private struct Walk {
    let way: WaitGraph.Way
    var open: [IndexingIterator<[UInt64]>]
    var seen: Set<UInt64> = []

    init(_ way: WaitGraph.Way, from start: UInt64, _ graph: WaitGraph) {
      self.way = way
      open = [graph.others(way, of: start).makeIterator()]
    }

    /// Nil when it has been everywhere.
    mutating func next(_ graph: WaitGraph) -> UInt64? {
      while let last = open.indices.last {
        guard let id = open[last].next() else {
          open.removeLast()
          continue
        }
        if seen.insert(id).inserted { open.append(graph.others(way, of: id).makeIterator()) }
        return id
      }
      return nil
    }
  }

  private let graph: WaitGraph
  private let start: UInt64
  private var behind: Walk
  private var before: Walk
  /// How many edges it has looked at.
  private(set) var looks = 0

  init(_ start: UInt64, in graph: WaitGraph) {
    (self.graph, self.start) = (graph, start)
    behind = Walk(.prerequisites, from: start, graph)
    before = Walk(.dependents, from: start, graph)
  }

  /// Goes on for less than a millisecond.
  mutating func goOn() -> Result {
    for _ in 0..<1_000 {
      looks += 2
      guard let prerequisite = behind.next(graph), let dependent = before.next(graph) else { return .none }
      if prerequisite == start || dependent == start { return .cycle }
    }
    return .goesOn
  }
}
