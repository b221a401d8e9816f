import Testing

@testable import NetSpool

/// Admits one after the other, each of which ends before the next, and answers what was admitted.
private func admitInTurn<Element>(_ queue: inout AdmissionQueue<Element>, turns: Int) -> [Element] {
  var admitted: [Element] = []
  while admitted.count < turns, let next = queue.next() {
    admitted.append(next.element)
    queue.finished(next.origin)
  }
  return admitted
}

@Suite struct AdmissionFairnessTests {
  /// Keeps one element of each class waiting and counts who is admitted.
  private func shares(_ classes: [NetworkRequest.Priority], turns: Int) -> [NetworkRequest.Priority: Int] {
    var queue = AdmissionQueue<NetworkRequest.Priority>(maximumConcurrent: 1)
    let origin = queue.addOrigin(limit: 1)
    var shares: [NetworkRequest.Priority: Int] = [:]
    for priority in classes { _ = queue.enqueue(priority, origin: origin, priority: priority) }
    for _ in 0..<turns {
      guard let next = queue.next() else { break }
      shares[next.element, default: 0] += 1
      _ = queue.enqueue(next.element, origin: origin, priority: next.element)
      queue.finished(next.origin)
    }
    return shares
  }

  @Test func `classes share by weight`() {
    let shares = shares([.low, .normal, .high, .urgent], turns: 3_700)
    let expected: [NetworkRequest.Priority: Int] = [.urgent: 2_000, .high: 1_000, .normal: 500, .low: 200]
    for (priority, count) in expected { #expect(abs(shares[priority, default: 0] - count) <= 2) }
  }

  @Test(arguments: [[NetworkRequest.Priority.low], [.normal], [.high], [.low, .normal, .high]])
  func `an urgent arrival goes first at any moment`(_ flood: [NetworkRequest.Priority]) {
    for turns in 0..<60 {
      var queue = AdmissionQueue<NetworkRequest.Priority>(maximumConcurrent: 1)
      let origin = queue.addOrigin(limit: 1)
      for _ in 0...turns {
        for priority in flood { _ = queue.enqueue(priority, origin: origin, priority: priority) }
      }
      _ = admitInTurn(&queue, turns: turns)
      _ = queue.enqueue(.urgent, origin: origin, priority: .urgent)
      #expect(queue.next()?.element == .urgent, "after \(turns) turns")
    }
  }

  @Test func `a long idle class does not take over when it comes back`() {
    var queue = AdmissionQueue<NetworkRequest.Priority>(maximumConcurrent: 1)
    let origin = queue.addOrigin(limit: 1)
    for _ in 0..<2_000 { _ = queue.enqueue(.high, origin: origin, priority: .high) }
    _ = admitInTurn(&queue, turns: 1_000)
    for _ in 0..<100 { _ = queue.enqueue(.low, origin: origin, priority: .low) }
    let low = admitInTurn(&queue, turns: 120).count { $0 == .low }
    #expect((15...25).contains(low))
  }

  @Test func `a low arrival waits for urgent work but not long`() {
    var queue = AdmissionQueue<NetworkRequest.Priority>(maximumConcurrent: 1)
    let origin = queue.addOrigin(limit: 1)
    for _ in 0..<200 { _ = queue.enqueue(.urgent, origin: origin, priority: .urgent) }
    _ = admitInTurn(&queue, turns: 100)
    _ = queue.enqueue(.low, origin: origin, priority: .low)
    let before = admitInTurn(&queue, turns: 101).prefix { $0 == .urgent }
    #expect((8...10).contains(before.count))
  }

  @Test func `a class whose origins were held is owed one turn not all of them`() {
    var queue = AdmissionQueue<NetworkRequest.Priority>(maximumConcurrent: 1)
    let held = queue.addOrigin(limit: 0)
    let open = queue.addOrigin(limit: 1)
    for _ in 0..<100 { _ = queue.enqueue(.low, origin: held, priority: .low) }
    for _ in 0..<2_000 { _ = queue.enqueue(.urgent, origin: open, priority: .urgent) }
    _ = admitInTurn(&queue, turns: 1_000)
    queue.setLimit(1, for: held)
    let low = admitInTurn(&queue, turns: 110).count { $0 == .low }
    #expect((10...12).contains(low))
  }

  @Test func `resolved and unresolved origins take turns`() {
    var queue = AdmissionQueue<Int>(maximumConcurrent: 1)
    let origins = [false, false, true].map { queue.addOrigin(limit: 6, resolved: $0) }
    for (number, origin) in origins.enumerated() {
      for _ in 1...2 { _ = queue.enqueue(number, origin: origin, priority: .normal) }
    }
    #expect(admitInTurn(&queue, turns: 6) == [0, 1, 2, 0, 1, 2])
  }

  // MARK: Going first

  /// A thousand origins of which each has two elements, named after them.
  private func crowd(resolved: Bool = true) -> (AdmissionQueue<Int>, [OriginID]) {
    var queue = AdmissionQueue<Int>(maximumConcurrent: 2, maximumUnresolved: 2)
    let origins = (0..<1_000).map { _ in queue.addOrigin(limit: 2, resolved: resolved) }
    for _ in 1...2 {
      for (number, origin) in origins.enumerated() {
        _ = queue.enqueue(number, origin: origin, priority: .normal)
      }
    }
    return (queue, origins)
  }

  @Test(arguments: [true, false])
  func `an engine that goes first comes before a thousand origins, once`(resolved: Bool) {
    var (queue, origins) = crowd(resolved: resolved)
    let other = queue.addOrigin(limit: 6)
    for element in [-1, -2] { _ = queue.enqueue(element, origin: other, priority: .normal) }
    _ = queue.enqueue(-3, origin: other, priority: .normal, goesFirst: true)
    _ = queue.enqueue(-4, origin: origins[7], priority: .normal, goesFirst: true)
    let order = admitInTurn(&queue, turns: 2_004)
    // After theirs both origins have their next turn with the others.
    #expect(Array(order.prefix(4)) == [-3, -4, 0, 1])
    #expect(order.firstIndex(of: -1) == 1_001 && Set(order).count == 1_004 && order.count == 2_004)
  }

  @Test func `an engine that goes first and leaves takes no other along`() {
    var (queue, origins) = crowd()
    let other = queue.addOrigin(limit: 6)
    let ticket = queue.enqueue(-1, origin: other, priority: .normal, goesFirst: true)
    queue.remove(ticket)
    _ = queue.enqueue(-2, origin: other, priority: .normal)
    #expect(queue.next()?.element == 0)
    // A full origin keeps the turn until it has room.
    queue.setLimit(0, for: origins[5])
    _ = queue.enqueue(-3, origin: origins[5], priority: .normal, goesFirst: true)
    #expect(queue.next()?.element == 1)
    queue.finished(origins[0])
    queue.setLimit(1, for: origins[5])
    #expect(queue.next()?.element == -3)
  }

  @Test func `where few places are left only what goes first has a turn`() {
    var (queue, origins) = crowd()
    let count = queue.count
    let ticket = queue.enqueue(-1, origin: origins[3], priority: .low)
    queue.isForFirstOnly = true
    #expect(queue.next() == nil)
    queue.letGoFirst(ticket)
    #expect(queue.readyClass(ticket) == .low)
    #expect(queue.next()?.element == -1)
    #expect(queue.next() == nil && queue.count == count)
    queue.isForFirstOnly = false
    #expect(queue.next()?.element == 0)
  }

  @Test func `an element that is let go first again and again keeps its turn`() {
    var (queue, origins) = crowd()
    let ticket = queue.enqueue(-1, origin: origins[3], priority: .low)
    let order = (0..<20).compactMap { _ -> Int? in
      queue.letGoFirst(ticket)
      guard let next = queue.next() else { return nil }
      queue.finished(next.origin)
      return next.element
    }
    #expect(order.contains(-1))
  }

  @Test func `a turn that was to come first goes to no other when its element leaves`() {
    var (queue, origins) = crowd()
    let ticket = queue.enqueue(-1, origin: origins[3], priority: .normal)
    queue.isForFirstOnly = true
    queue.letGoFirst(ticket)
    #expect(!queue.lacksFirst)
    queue.remove(ticket)
    #expect(queue.lacksFirst && queue.next() == nil)
  }

  @Test func `the weights of classes hold for engines that go first, too`() {
    var (queue, origins) = crowd()
    _ = queue.enqueue(-1, origin: origins[3], priority: .low, goesFirst: true)
    _ = queue.enqueue(-2, origin: origins[4], priority: .urgent)
    #expect(queue.next()?.element == -2)
    #expect(queue.next()?.element == 0)
  }
}
