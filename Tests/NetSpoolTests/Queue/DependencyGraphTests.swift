import Testing

@testable import NetSpool
@testable import TestSupport

@Suite final class DependencyGraphTests {
  private var graph = DependencyGraph<UInt64>()

  /// Adds edges as the operation's user does, and has it wait; false when one of them would close a cycle.
  private func add(_ dependent: UInt64, after others: UInt64...) -> Bool {
    let isAdded = others.allSatisfy { graph.add(dependent, after: $0) }
    _ = graph.block(dependent, as: dependent)
    return isAdded
  }

  /// All that an end brings, at once.
  private func finish(_ id: UInt64) -> [UInt64] { graph.remove(id).compactMap { graph.cut($0) } }

  @Test(.notSanitized(.valuesAlone))
  func `a hundred thousand dependents are released or cancelled at the cost of each`() {
    for id in 1...100_000 as ClosedRange<UInt64> { _ = add(id, after: 0) }
    for id in 1...50_000 as ClosedRange<UInt64> { #expect(finish(id).isEmpty) }
    #expect(finish(0).count == 50_000)
    #expect(graph.isEmpty && graph.looks == 0)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `random graphs behave like an edge list`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var edges: [(dependent: UInt64, prerequisite: UInt64)] = []
    var live = Array(0..<30 as Range<UInt64>)
    var fresh: UInt64 = 30

    func reaches(_ start: UInt64, _ goal: UInt64) -> Bool {
      start == goal || edges.contains { $0.dependent == start && reaches($0.prerequisite, goal) }
    }
    for step in 0..<3_000 {
      let (a, b) = (live.randomElement(using: &random)!, live.randomElement(using: &random)!)
      if random.chance(70) {
        let isCycle = reaches(b, a)
        #expect(add(a, after: b) != isCycle, "seed \(seed), step \(step)")
        if !isCycle, !edges.contains(where: { $0 == (a, b) }) { edges.append((a, b)) }
      } else {
        let waiting = edges.filter { $0.prerequisite == a }.map(\.dependent).sorted()
        edges.removeAll { $0.prerequisite == a || $0.dependent == a }
        let released = waiting.filter { id in !edges.contains { $0.dependent == id } }
        #expect(finish(a) == released, "seed \(seed), step \(step)")
        live.removeAll { $0 == a }
        live.append(fresh)
        fresh += 1
      }
      #expect(graph.isEmpty == edges.isEmpty)
    }
  }

  // MARK: What cycles cost

  @Test(.notSanitized(.valuesAlone)) func `a long cycle is found, in whatever order it comes`() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let ids = Array(1...(seed * 100 + 2)).shuffled(using: &random)
      var order = Array(ids.indices).shuffled(using: &random)
      let last = order.removeLast()
      for index in order { #expect(add(ids[index], after: ids[(index + 1) % ids.count])) }
      #expect(!add(ids[last], after: ids[(last + 1) % ids.count]), "seed \(seed)")
      for id in ids { _ = finish(id) }
      #expect(graph.isEmpty)
    }
  }

  enum Order: CaseIterable { case first, last, shuffled, inside }

  /// In chains the ages of which are mixed, so that a cycle cannot be excluded.
  @Test(arguments: Order.allCases)
  func `a chain costs little more than its links, in whatever order it comes`(order: Order) {
    var random = SplitMix64(seed: 1)
    let count = 20_000
    let ids = Array(1...UInt64(count)).shuffled(using: &random)
    var links = Array(1..<count)
    switch order {
    case .first: break
    case .last: links.reverse()
    case .shuffled: links.shuffle(using: &random)
    // From both ends to the middle, then every second one between: the longest possible pieces meet.
    case .inside: links = links.filter { $0 % 2 == 0 } + links.filter { $0 % 2 == 1 }
    }
    for index in links { #expect(add(ids[index], after: ids[index - 1])) }
    #expect(graph.looks < 40 * count)
  }

  /// Each link has a dependent before it comes, and none of them can begin.
  @Test func `dependents beside a chain change nothing`() {
    let count: UInt64 = 20_000
    for number in 1..<count {
      #expect(add(2 * count - number, after: number))
      #expect(add(number, after: number - 1))
    }
    #expect(add(2 * count, after: 2 * count + 1))
    for number in 1..<count { #expect(add(4 * count - number, after: number)) }
    #expect(graph.looks < 10 * Int(count))
  }

  /// Twenty thousand, each behind two of the two hundred before it.
  @Test func `a graph in which all wait for older ones is not searched`() {
    var random = SplitMix64(seed: 7)
    for dependent in Array(1..<20_000 as Range<UInt64>).shuffled(using: &random) {
      for _ in 0..<2 {
        let older = UInt64.random(in: dependent - min(dependent, 200)..<dependent, using: &random)
        #expect(add(dependent, after: older))
      }
    }
    #expect(graph.looks == 0)
  }
}
