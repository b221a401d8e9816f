import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct DependencyGraphTests {
  var graph = DependencyGraph<Int>(age: { UInt64($0) })

  @Test mutating func `an operation is released when the last of its prerequisites ends`() {
    #expect(graph.add(3, after: 1) == .added)
    #expect(graph.add(3, after: 2) == .added)
    #expect(graph.isBlocked(3) && !graph.isBlocked(1))
    #expect(graph.finish(1) == [])
    #expect(graph.isBlocked(3))
    #expect(graph.finish(2) == [3])
    #expect(!graph.isBlocked(3) && graph.isEmpty)
  }

  @Test mutating func `dependents are released in the order of their edges`() {
    for dependent in [5, 3, 9, 4] { _ = graph.add(dependent, after: 1) }
    #expect(graph.finish(1) == [5, 3, 9, 4])
  }

  @Test mutating func `the same edge counts once`() {
    #expect(graph.add(2, after: 1) == .added)
    #expect(graph.add(2, after: 1) == .known)
    #expect(graph.finish(1) == [2])
  }

  @Test mutating func `an operation cannot wait for itself`() {
    #expect(graph.add(1, after: 1) == .cycle([1, 1]))
    #expect(graph.isEmpty)
  }

  @Test mutating func `a cycle is refused and the graph stays as it was`() {
    for id in 1..<5 { #expect(graph.add(id + 1, after: id) == .added) }
    #expect(graph.add(1, after: 5) == .cycle([1, 5, 4, 3, 2, 1]))
    #expect(!graph.isBlocked(1))
    #expect(graph.finish(1) == [2])
  }

  @Test(arguments: [false, true])
  mutating func `a long chain is cheap to build from either end`(_ isReversed: Bool) {
    // Searching the chain at each step would take some 10^10 of them.
    let count = 100_000
    let links = 1..<count
    for id in isReversed ? Array(links.reversed()) : Array(links) { _ = graph.add(id + 1, after: id) }
    #expect(!graph.isBlocked(1) && graph.isBlocked(count))
    for id in 1..<count { #expect(graph.finish(id) == [id + 1]) }
  }

  @Test mutating func `a diamond is no cycle`() {
    for (dependent, prerequisite) in [(2, 1), (3, 1), (4, 2), (4, 3)] {
      #expect(graph.add(dependent, after: prerequisite) == .added)
    }
    #expect(graph.finish(1) == [2, 3])
    #expect(graph.finish(3) == [])
    #expect(graph.finish(2) == [4])
  }

  @Test mutating func `an end breaks the chain so that the reverse edge is allowed`() {
    _ = graph.add(2, after: 1)
    _ = graph.finish(1)
    #expect(graph.add(3, after: 2) == .added)
    #expect(graph.finish(2) == [3])
  }

  @Test mutating func `an operation cancelled while it waits is not released later`() {
    _ = graph.add(2, after: 1)
    _ = graph.add(3, after: 1)
    _ = graph.add(4, after: 2)
    #expect(graph.finish(2) == [4])
    #expect(graph.finish(1) == [3])
    #expect(graph.isEmpty)
  }

  @Test mutating func `a hundred thousand cancelled dependents leave nothing`() {
    for id in 1...100_000 { _ = graph.add(id, after: 0) }
    for id in 1...100_000 { #expect(graph.finish(id).isEmpty) }
    #expect(graph.isEmpty)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `random graphs behave like an edge list`(_ seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var graph = DependencyGraph<Int>(age: { UInt64($0) })
    var edges: [(dependent: Int, prerequisite: Int)] = []
    var live = Array(0..<30)
    var fresh = 30

    func reaches(_ start: Int, _ goal: Int) -> Bool {
      start == goal || edges.contains { $0.dependent == start && reaches($0.prerequisite, goal) }
    }
    for step in 0..<3_000 {
      guard let a = live.randomElement(using: &generator), let b = live.randomElement(using: &generator)
      else { break }
      if generator.chance(70) {
        switch graph.add(a, after: b) {
        case .added:
          #expect(!reaches(b, a), "seed \(seed), step \(step)")
          edges.append((a, b))
        case .known: #expect(edges.contains { $0 == (a, b) }, "seed \(seed), step \(step)")
        case .cycle(let path):
          #expect(reaches(b, a), "seed \(seed), step \(step)")
          #expect(path.first == a && path.last == a && path.dropFirst().first == b)
          let steps = zip(path.dropFirst(), path.dropFirst(2))
          #expect(steps.allSatisfy { pair in edges.contains { $0 == pair } })
        }
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

  /// Twenty thousand, each behind two of the two hundred before it, as they come: 38 s once, and now nobody is searched for.
  @Test mutating func `what comes in any order costs little more than in its own`() {
    var random = SplitMix64(seed: 7)
    let count = isSanitized ? 2_000 : 20_000
    for dependent in Array(1..<count).shuffled(using: &random) {
      for _ in 0..<2 {
        _ = graph.add(dependent, after: Int.random(in: max(0, dependent - 200)..<dependent, using: &random))
      }
    }
    for id in 0..<count { _ = graph.finish(id) }
    #expect(graph.isEmpty)
  }
}
