import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct WaitGraphTests {
  let graph = WaitGraph()

  /// Adds edges as one operation does when it is enqueued, and says whether that closes a cycle, and what it took to know.
  private func add(_ dependent: UInt64, after others: [UInt64]) -> (isCycle: Bool, looks: Int) {
    let mayClose = others.map { graph.add(dependent, after: $0) }.contains(true)
    guard mayClose else { return (false, 0) }
    var search = CycleSearch(dependent, in: graph)
    var result = CycleSearch.Result.goesOn
    while result == .goesOn { result = search.goOn() }
    return (result == .cycle, search.looks)
  }

  @Test func `an operation cannot wait for itself`() {
    #expect(add(1, after: [1]).isCycle)
    graph.remove(1)
    #expect(graph.isEmpty)
  }

  @Test func `a long cycle is found, in whatever order it comes`() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let ids = Array(1...(seed * 100 + 2)).shuffled(using: &random)
      var order = Array(ids.indices).shuffled(using: &random)
      let last = order.removeLast()
      for index in order { #expect(!add(ids[index], after: [ids[(index + 1) % ids.count]]).isCycle) }
      #expect(add(ids[last], after: [ids[(last + 1) % ids.count]]).isCycle, "seed \(seed)")
      for id in ids { graph.remove(id) }
      #expect(graph.isEmpty)
    }
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
    func end(_ id: UInt64) {
      graph.remove(id)
      edges.removeAll { $0.prerequisite == id || $0.dependent == id }
      live.removeAll { $0 == id }
      live.append(fresh)
      fresh += 1
    }
    for step in 0..<3_000 {
      let a = live.randomElement(using: &random)!
      // Each adds its edges once
      guard random.chance(70), !edges.contains(where: { $0.dependent == a }) else {
        end(a)
        continue
      }
      let others = (0..<3).map { _ in live.randomElement(using: &random)! }
      let isCycle = others.contains { reaches($0, a) }
      #expect(add(a, after: others).isCycle == isCycle, "seed \(seed), step \(step)")
      edges += others.map { (a, $0) }
      if isCycle { end(a) }
    }
    for id in live { graph.remove(id) }
    #expect(graph.isEmpty)
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
    var looks = 0
    for index in links {
      let added = add(ids[index], after: [ids[index - 1]])
      #expect(!added.isCycle)
      looks += added.looks
    }
    #expect(looks < 40 * count)
  }

  /// Somebody waits for each link before it comes, and none of them can begin.
  @Test func `others that wait for the links of a chain change nothing`() {
    let count: UInt64 = 20_000
    var looks = 0
    for number in 1..<count {
      looks += add(2 * count - number, after: [number]).looks
      looks += add(number, after: [number - 1]).looks
    }
    _ = add(2 * count, after: [2 * count + 1])
    for number in 1..<count { looks += add(4 * count - number, after: [number]).looks }
    #expect(looks < 10 * Int(count))
  }

  /// Twenty thousand, each behind two of the two hundred before it.
  @Test func `operations that all wait for older ones are not searched`() {
    var random = SplitMix64(seed: 7)
    var looks = 0
    for dependent in Array(1..<20_000 as Range<UInt64>).shuffled(using: &random) {
      let others = (0..<2).map { _ in
        UInt64.random(in: dependent - min(dependent, 200)..<dependent, using: &random)
      }
      looks += add(dependent, after: others).looks
    }
    #expect(looks == 0)
  }
}
