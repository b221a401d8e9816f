import Testing

@testable import NetSpool

@Suite struct AdmissionTicketTests {
  var queue = AdmissionQueue<Int>(maximumConcurrent: 1)

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
