import Testing

@testable import NetSpool
@testable import TestSupport

extension DependencyGraph {
  /// All that an end brings, at once.
  fileprivate mutating func finish(_ id: ID) -> [ID] {
    let others = remove(id)
    defer { for other in others.prerequisites { forget(id, under: other) } }
    return others.dependents.filter { release($0, from: id) }
  }
}

@Suite struct DependencyGraphTests {
  var graph = DependencyGraph<Int>()

  @Test mutating func `an operation is released when the last of its prerequisites ends`() {
    graph.add(3, after: 1)
    graph.add(3, after: 2)
    #expect(graph.isBlocked(3) && !graph.isBlocked(1))
    #expect(graph.finish(1) == [])
    #expect(graph.isBlocked(3))
    #expect(graph.finish(2) == [3])
    #expect(!graph.isBlocked(3) && graph.isEmpty)
  }

  @Test mutating func `dependents are released in the order of their edges`() {
    for dependent in [5, 3, 9, 4] { graph.add(dependent, after: 1) }
    #expect(graph.finish(1) == [5, 3, 9, 4])
  }

  @Test mutating func `the same edge counts once`() {
    graph.add(2, after: 1)
    graph.add(2, after: 1)
    #expect(graph.finish(1) == [2])
  }

  @Test(arguments: [false, true])
  mutating func `a long chain is cheap to build from either end`(_ isReversed: Bool) {
    let count = 100_000
    let links = 1..<count
    for id in isReversed ? Array(links.reversed()) : Array(links) { graph.add(id + 1, after: id) }
    #expect(!graph.isBlocked(1) && graph.isBlocked(count))
    for id in 1..<count { #expect(graph.finish(id) == [id + 1]) }
  }

  @Test mutating func `a diamond is no cycle`() {
    for (dependent, prerequisite) in [(2, 1), (3, 1), (4, 2), (4, 3)] {
      graph.add(dependent, after: prerequisite)
    }
    #expect(graph.finish(1) == [2, 3])
    #expect(graph.finish(3) == [])
    #expect(graph.finish(2) == [4])
  }

  @Test mutating func `an end breaks the chain so that the reverse edge is allowed`() {
    graph.add(2, after: 1)
    _ = graph.finish(1)
    graph.add(3, after: 2)
    #expect(graph.finish(2) == [3])
  }

  @Test mutating func `an operation cancelled while it waits is not released later`() {
    graph.add(2, after: 1)
    graph.add(3, after: 1)
    graph.add(4, after: 2)
    #expect(graph.finish(2) == [4])
    #expect(graph.finish(1) == [3])
    #expect(graph.isEmpty)
  }

  @Test mutating func `a hundred thousand cancelled dependents leave nothing`() {
    for id in 1...100_000 { graph.add(id, after: 0) }
    for id in 1...100_000 { #expect(graph.finish(id).isEmpty) }
    #expect(graph.isEmpty)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `random graphs behave like an edge list`(_ seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var graph = DependencyGraph<Int>()
    var edges: [(dependent: Int, prerequisite: Int)] = []
    var live = Array(0..<30)
    var fresh = 30

    for step in 0..<3_000 {
      guard let a = live.randomElement(using: &generator), let b = live.randomElement(using: &generator)
      else { break }
      if generator.chance(70) {
        guard a > b else { continue }
        graph.add(a, after: b)
        if !edges.contains(where: { $0 == (a, b) }) { edges.append((a, b)) }
      } else {
        let waiting = edges.filter { $0.prerequisite == a }.map(\.dependent)
        edges.removeAll { $0.prerequisite == a || $0.dependent == a }
        let released = waiting.filter { id in !edges.contains { $0.dependent == id } }
        #expect(graph.finish(a) == released, "seed \(seed), step \(step)")
        live.removeAll { $0 == a }
        live.append(fresh)
        fresh += 1
      }
      #expect(graph.isEmpty == edges.isEmpty)
    }
  }
}
