import Testing

@testable import NetSpool

@Suite struct AdmissionProbingTests {
  var queue = AdmissionQueue<Int>()

  private mutating func addUnresolved(_ count: Int, elements: Int) -> [OriginID] {
    (0..<count).map { _ in
      let origin = queue.addOrigin(limit: 6, resolved: false)
      for element in 0..<elements { _ = queue.enqueue(element, origin: origin, priority: .normal) }
      return origin
    }
  }

  @Test mutating func `a resolved origin is not held up by dead names`() {
    _ = addUnresolved(16, elements: 3)
    _ = admitAll(&queue)
    let alive = queue.addOrigin(limit: 2)
    for element in 100..<105 { _ = queue.enqueue(element, origin: alive, priority: .low) }
    #expect(admitAll(&queue) == [100, 101])
  }

  @Test mutating func `resolved and unresolved origins take turns`() {
    queue.maximumConcurrent = 1
    let unresolved = addUnresolved(2, elements: 2)
    let resolved = queue.addOrigin(limit: 6)
    for element in 0..<2 { _ = queue.enqueue(element, origin: resolved, priority: .normal) }
    var order: [OriginID] = []
    while let next = queue.next() {
      order.append(next.origin)
      queue.finished(next.origin)
    }
    #expect(order == [unresolved[0], unresolved[1], resolved, unresolved[0], unresolved[1], resolved])
  }

  @Test mutating func `an origin resolved before it ran uses its whole limit`() {
    let origins = addUnresolved(20, elements: 8)
    _ = admitAll(&queue)
    queue.markResolved(origins[19])
    #expect(admitAll(&queue).count == 6)
    #expect(queue.running(at: origins[19]) == 6)
  }
}
