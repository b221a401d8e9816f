import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

struct InboxTests {
  private typealias Numbers = Inbox<FIFO<Int>>

  private final class Reader: Sendable {
    let inbox = Numbers(FIFO())
    let read = Mutex<[Int]>([])
    let onRead: @Sendable (Int) -> Void
    let countMax: Int

    init(countMax: Int = 1, onRead: @escaping @Sendable (Int) -> Void = { _ in }) {
      self.countMax = countMax
      self.onRead = onRead
    }

    func send(_ number: Int) -> Bool {
      let crew = InboxCrew(name: "reader", countMax: countMax) { [self] in
        while let number = inbox.next(Self.first) {
          onRead(number)
          read.withLock { $0.append(number) }
        }
      }
      return inbox.send(by: crew) { $0.append(number) } != nil
    }

    func end() -> [Int] {
      inbox.close()
      inbox.join()
      return read.withLock { $0 }
    }

    static func first(_ numbers: inout FIFO<Int>, _ look: Numbers.Look) -> Numbers.Step<Int> {
      if let number = numbers.popFirst() { return .take(number) }
      return look.isClosed ? .end : .sleep(until: .max)
    }
  }

  @Test func `work is done in its order, and what had come before the end is done`() {
    let reader = Reader()
    let taken = (0..<1_000).filter { reader.send($0) }
    #expect(reader.end() == taken && taken.count == 1_000)
    #expect(!reader.send(-1))
  }

  @Test func `a second thread starts for what comes while the first is at work, and no third`() async {
    // Given jobs that last until all threads there may be have one
    let (counter, mayEnd) = (Counter(), Latch())
    let reader = Reader(countMax: 2) { _ in
      counter.add()
      mayEnd.block()
    }
    for number in 0..<3 { _ = reader.send(number) }
    // Then two are at work
    #expect(await until { counter.value == 2 })
    mayEnd.open()
    #expect(reader.end().sorted() == [0, 1, 2])
    #expect(counter.value == 3)
  }

  @Test func `a thread that is late looks once more, and is late only when nothing has called it`() {
    let inbox = Numbers(FIFO())
    var looks: [Bool] = []
    func look(_ numbers: inout FIFO<Int>, _ look: Numbers.Look) -> Numbers.Step<Int> {
      looks.append(look.isLate)
      if let number = numbers.popFirst() { return .take(number) }
      return look.isLate ? .take(-1) : .sleep(until: MonotonicClock.now + 1_000)
    }
    // Given nothing to do, then it is late; given work, it need not sleep
    let late = inbox.next(look)
    _ = inbox.send { $0.append(7) }
    let found = inbox.next(look)
    #expect(late == -1 && found == 7 && looks == [false, true, false])
  }

  @Test func `no call is lost or left over where it meets the end of a thread's time`() async {
    // Given a reader that sleeps for no time at all
    let inbox = Numbers(FIFO())
    let count = 20_000
    let reading = Task.detached {
      var sum = 0
      for _ in 0..<count {
        sum +=
          inbox.next { numbers, _ in
            numbers.popFirst().map { .take($0) } ?? .sleep(until: MonotonicClock.now)
          } ?? 0
      }
      return sum
    }
    // When as many are sent, then all arrive
    for number in 0..<count { _ = inbox.send { $0.append(number) } }
    #expect(await reading.value == count * (count - 1) / 2)
  }
}
