import Testing

@testable import NetSpool

@Suite struct AdmissionTicketTests {
  var queue = AdmissionQueue<Int>(maximumConcurrent: 1)

  @Test mutating func `a removed element is handed back once and never admitted`() {
    let origin = queue.addOrigin(limit: 6)
    let tickets = (0..<3).map { queue.enqueue($0, origin: origin, priority: .normal) }
    #expect(queue.remove(tickets[1]) == 1)
    #expect(queue.remove(tickets[1]) == nil)
    #expect(queue.count == 2 && queue.waiting(at: origin) == 2)
    queue.maximumConcurrent = 6
    #expect(admitAll(&queue) == [0, 2])
  }

  @Test(arguments: [0, 1, 2])
  mutating func `removing the first middle and last keeps the others in order`(_ victim: Int) {
    let origin = queue.addOrigin(limit: 6)
    let tickets = (0..<3).map { queue.enqueue($0, origin: origin, priority: .normal) }
    queue.remove(tickets[victim])
    _ = queue.enqueue(3, origin: origin, priority: .normal)
    queue.maximumConcurrent = 6
    #expect(admitAll(&queue) == (0...3).filter { $0 != victim })
  }

  @Test mutating func `the ticket of an admitted element is stale`() {
    let origin = queue.addOrigin(limit: 6)
    let ticket = queue.enqueue(7, origin: origin, priority: .normal)
    #expect(queue.isWaiting(ticket))
    _ = queue.next()
    #expect(!queue.isWaiting(ticket))
    #expect(queue.remove(ticket) == nil)
    #expect(queue.reprioritise(ticket, to: .urgent) == false)
  }

  @Test mutating func `a stale ticket does not touch the element that took its slot`() {
    let origin = queue.addOrigin(limit: 6)
    let old = queue.enqueue(1, origin: origin, priority: .normal)
    queue.remove(old)
    let new = queue.enqueue(2, origin: origin, priority: .normal)
    #expect(queue.remove(old) == nil)
    #expect(queue.reprioritise(old, to: .urgent) == false)
    #expect(queue.remove(new) == 2)
  }

  @Test mutating func `a ticket stays stale after its storage was given back`() {
    let origin = queue.addOrigin(limit: 6)
    let tickets = (0..<20_000).map { queue.enqueue($0, origin: origin, priority: .normal) }
    let capacity = queue.capacity
    for ticket in tickets { queue.remove(ticket) }
    #expect(queue.capacity < capacity)
    #expect(tickets.allSatisfy { !queue.isWaiting($0) })
    let again = (0..<20_000).map { queue.enqueue($0, origin: origin, priority: .normal) }
    #expect(tickets.allSatisfy { queue.remove($0) == nil })
    #expect(queue.capacity == capacity && queue.count == 20_000)
    #expect(again.allSatisfy { queue.isWaiting($0) })
  }

  @Test mutating func `a reprioritised element goes to the end of its new class`() {
    let origin = queue.addOrigin(limit: 6)
    let late = queue.enqueue(3, origin: origin, priority: .low)
    _ = queue.enqueue(1, origin: origin, priority: .urgent)
    _ = queue.enqueue(2, origin: origin, priority: .urgent)
    #expect(queue.reprioritise(late, to: .urgent) == true)
    queue.maximumConcurrent = 6
    #expect(admitAll(&queue) == [1, 2, 3])
  }

  @Test mutating func `reprioritising to its own class keeps the place`() {
    let origin = queue.addOrigin(limit: 6)
    let first = queue.enqueue(1, origin: origin, priority: .high)
    _ = queue.enqueue(2, origin: origin, priority: .high)
    #expect(queue.reprioritise(first, to: .high) == true)
    #expect(queue.next()?.element == 1)
  }

  /// A million, from the front, from the back, and across, so that lists are cut everywhere. Unoptimised
  /// generic code takes six seconds for that, so a debug build removes a tenth.
  @Test mutating func `a million removals leave nothing behind`() {
    #if DEBUG
    let length = 20_000
    #else
    let length = 200_000
    #endif
    let origin = queue.addOrigin(limit: 6)
    var lost = 0
    for step in [1, length - 1, 7_919, 31, 1_003] {
      let tickets = (0..<length).map { queue.enqueue($0, origin: origin, priority: .low) }
      for turn in tickets.indices where queue.remove(tickets[turn * step % length]) == nil { lost += 1 }
    }
    #expect(lost == 0)
    #expect(queue.count == 0 && queue.waiting(at: origin) == 0)
    #expect(queue.next() == nil)
    #expect(queue.capacity <= 4_096)
  }

  @Test func `a waiting element costs little`() {
    #expect(MemoryLayout<WaitingNode<AnyObject>>.stride == 24)
    #expect(MemoryLayout<WaitingNode<Int>>.stride == 32)
  }

  @Test func `the queue keeps no element that has left`() {
    final class Thing {}
    var queue = AdmissionQueue<Thing>()
    let origin = queue.addOrigin(limit: 1)
    weak var removed: Thing?
    weak var admitted: Thing?
    do {
      let things = [Thing(), Thing()]
      (removed, admitted) = (things[0], things[1])
      let ticket = queue.enqueue(things[0], origin: origin, priority: .normal)
      _ = queue.enqueue(things[1], origin: origin, priority: .normal)
      queue.remove(ticket)
      _ = queue.next()
    }
    #expect(removed == nil)
    #expect(admitted == nil)
  }
}
