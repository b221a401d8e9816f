import Dispatch
import Synchronization
import Testing

@testable import NetSpool

struct OutboxTests {
  @Test func `what one turn leaves for a target is one block, whatever others get`() {
    // Given a queue that stops behind the block in which a turn's first item runs
    let queue = DispatchQueue(label: "test")
    let other = DispatchQueue(label: "test.other")
    let delivered = Mutex<[Int]>([])
    let ended = DispatchSemaphore(value: 0)
    let outbox = Outbox<Int> { item in
      if item < 0 { return }
      if item % 10 == 0 { queue.suspend() }
      delivered.withLock { $0.append(item) }
      if item % 10 == 9 { ended.signal() }
    }
    for turn in 0..<3 {
      // When a turn ends
      for item in turn * 10..<turn * 10 + 10 {
        outbox.put(item, to: .queue(queue), key: 1)
        outbox.put(-1, to: .queue(other), key: 2)
      }
      outbox.flush()
      // Then its last item comes in the same block: another would not start
      #expect(ended.wait(timeout: .now() + 300) == .success)
      #expect(delivered.withLock { $0 } == Array(0..<turn * 10 + 10))
      queue.resume()
    }
    queue.sync {}
  }

  @Test func `on the loop thread items run at the end of the turn, and not before`() {
    let delivered = Mutex<[Int]>([])
    let outbox = Outbox<Int> { item in
      #expect(Delivery.isRunning)
      delivered.withLock { $0.append(item) }
    }
    outbox.put(1, to: .loopThread, key: 1)
    outbox.put(2, to: .loopThread, key: 1)
    #expect(delivered.withLock { $0 } == [])
    outbox.flush()
    #expect(delivered.withLock { $0 } == [1, 2])
    #expect(!Delivery.isRunning)
  }
}
