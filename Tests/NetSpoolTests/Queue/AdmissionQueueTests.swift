import Testing

@testable import NetSpool

/// Admits until nothing may start and answers what was admitted.
func admitAll<Element>(_ queue: inout AdmissionQueue<Element>) -> [Element] {
  var admitted: [Element] = []
  while let next = queue.next() { admitted.append(next.element) }
  return admitted
}

@Suite struct AdmissionQueueTests {
  var queue = AdmissionQueue<Int>()

  @Test mutating func `an empty queue admits nothing`() {
    #expect(queue.next() == nil)
    #expect(queue.count == 0 && queue.running == 0)
  }

  @Test mutating func `elements of one origin and class leave in the order they came`() {
    let origin = queue.addOrigin(limit: 100)
    for element in 0..<50 { _ = queue.enqueue(element, origin: origin, priority: .normal) }
    #expect(admitAll(&queue) == Array(0..<50))
    #expect(queue.count == 0 && queue.running == 50 && queue.running(at: origin) == 50)
  }

  @Test mutating func `an element put at the front leaves first`() {
    let origin = queue.addOrigin(limit: 100)
    _ = queue.enqueue(1, origin: origin, priority: .normal)
    _ = queue.enqueue(2, origin: origin, priority: .normal)
    _ = queue.enqueue(0, origin: origin, priority: .normal, atFront: true)
    #expect(admitAll(&queue) == [0, 1, 2])
  }

  @Test mutating func `no origin runs more than its limit`() {
    let narrow = queue.addOrigin(limit: 2)
    let wide = queue.addOrigin(limit: 5)
    for element in 0..<20 {
      _ = queue.enqueue(element, origin: element % 2 == 0 ? narrow : wide, priority: .normal)
    }
    #expect(admitAll(&queue).count == 7)
    #expect(queue.running(at: narrow) == 2 && queue.running(at: wide) == 5)
    queue.finished(narrow)
    #expect(queue.next()?.origin == narrow)
    #expect(queue.next() == nil)
  }

  @Test mutating func `the total limit holds and may change while running`() {
    queue.maximumConcurrent = 3
    let origin = queue.addOrigin(limit: 100)
    for element in 0..<20 { _ = queue.enqueue(element, origin: origin, priority: .normal) }
    #expect(admitAll(&queue).count == 3)
    queue.maximumConcurrent = 5
    #expect(admitAll(&queue).count == 2)
    queue.maximumConcurrent = 1
    for _ in 0..<4 { queue.finished(origin) }
    #expect(queue.next() == nil)
    queue.finished(origin)
    #expect(admitAll(&queue).count == 1)
  }

  @Test mutating func `a changed origin limit applies at once`() {
    let origin = queue.addOrigin(limit: 0)
    for element in 0..<20 { _ = queue.enqueue(element, origin: origin, priority: .normal) }
    #expect(queue.next() == nil)
    queue.setLimit(4, for: origin)
    #expect(admitAll(&queue) == [0, 1, 2, 3])
    queue.setLimit(2, for: origin)
    queue.finished(origin)
    queue.finished(origin)
    #expect(queue.next() == nil)
    queue.finished(origin)
    #expect(admitAll(&queue) == [4])
    #expect(queue.limit(of: origin) == 2)
  }

  @Test mutating func `a suspended queue admits nothing and forgets nothing`() {
    let origin = queue.addOrigin(limit: 6)
    _ = queue.enqueue(1, origin: origin, priority: .urgent)
    queue.isSuspended = true
    #expect(queue.next() == nil)
    queue.isSuspended = false
    #expect(admitAll(&queue) == [1])
  }

  @Test mutating func `origins of one class take turns`() {
    queue.maximumConcurrent = 1
    let origins = (0..<3).map { _ in queue.addOrigin(limit: 6) }
    for origin in origins {
      for _ in 0..<4 { _ = queue.enqueue(Int(origin.rawValue), origin: origin, priority: .normal) }
    }
    var order: [Int] = []
    while let next = queue.next() {
      order.append(next.element)
      queue.finished(next.origin)
    }
    #expect(order == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
  }

  @Test mutating func `a single element is not buried under another origin's million`() {
    queue.maximumConcurrent = 4
    let bulk = queue.addOrigin(limit: 4)
    let small = queue.addOrigin(limit: 4)
    for element in 0..<1_000 { _ = queue.enqueue(element, origin: bulk, priority: .normal) }
    _ = admitAll(&queue)
    _ = queue.enqueue(-1, origin: small, priority: .normal)
    queue.finished(bulk)
    #expect(queue.next()?.element == -1)
  }

  @Test mutating func `an origin is removed only when empty and its number is reused`() {
    let origin = queue.addOrigin(limit: 1)
    let ticket = queue.enqueue(1, origin: origin, priority: .low)
    #expect(queue.removeOrigin(origin) == false)
    _ = queue.next()
    #expect(queue.removeOrigin(origin) == false)
    queue.finished(origin)
    #expect(queue.removeOrigin(origin) == true)
    let other = queue.addOrigin(limit: 3)
    #expect(other == origin)
    #expect(queue.limit(of: other) == 3 && queue.running(at: other) == 0)
    #expect(queue.remove(ticket) == nil)
  }

  @Test mutating func `visiting goes by origin then urgency then age`() {
    let a = queue.addOrigin(limit: 1)
    let b = queue.addOrigin(limit: 1)
    _ = queue.enqueue(4, origin: b, priority: .normal)
    _ = queue.enqueue(3, origin: a, priority: .low)
    _ = queue.enqueue(1, origin: a, priority: .urgent)
    _ = queue.enqueue(2, origin: a, priority: .urgent)
    var seen: [Int] = []
    var tickets: [Ticket] = []
    queue.forEachWaiting { ticket, element in
      seen.append(element)
      tickets.append(ticket)
    }
    #expect(seen == [1, 2, 3, 4])
    #expect(tickets.compactMap { queue.remove($0) } == [1, 2, 3, 4])
    #expect(queue.count == 0)
  }
}
