import Testing

@testable import NetSpool
@testable import TestSupport

struct WaitListTests {
  private func make(_ count: Int, in list: WaitList, _ log: Journal<String>) -> [Wait] {
    (0..<count).map { number in
      Wait(.room, in: list) { log.add($0 == nil ? "\(number)" : "\(number) failed") }
    }
  }

  @Test func `waits go on in the order in which they came, and what was called off does not`() {
    let (list, log) = (WaitList(), Journal<String>())
    let waits = make(6, in: list, log)
    // When the first, the last and one between are called off
    for number in [0, 3, 5] { waits[number].callOff() }
    #expect(list.count == 3)
    // Then the others go on
    for wait in list.take(atMost: 2) { wait.goOn() }
    #expect(log.entries == ["1", "2"] && list.count == 1)
    waits[4].goOn(NetworkError(.timedOut))
    #expect(log.entries == ["1", "2", "4 failed"] && list.isEmpty)
    // And each does so once
    for wait in waits { wait.goOn() }
    #expect(log.count == 3 && list.popFirst() == nil)
  }

  @Test func `what was taken and called off before its turn does not go on`() {
    let (list, log) = (WaitList(), Journal<String>())
    let waits = make(3, in: list, log)
    let taken = list.take(atMost: 3)
    waits[1].callOff()
    for wait in taken { wait.goOn() }
    #expect(log.entries == ["0", "2"])
  }

  @Test func `a wait is counted while it waits, and as refused when it was called off for good`() {
    let counter = BudgetCounter()
    let (list, log) = (WaitList(countedBy: counter), Journal<String>())
    let waits = make(4, in: list, log)
    #expect(counter.report(heldMax: nil).waiting == 4)
    waits[0].callOff()
    waits[1].callOff(isRefused: false)
    list.popFirst()?.goOn()
    let report = counter.report(heldMax: nil)
    #expect(report.waiting == 1 && report.refused == 1 && list.count == 1)
    waits[3].callOff(isRefused: false)
    #expect(counter.report(heldMax: nil).waiting == 0)
  }

  @Test(arguments: [true, false])
  func `a hundred thousand that leave, in whatever order, are kept by nothing`(_ isBackwards: Bool) {
    final class Held {}
    let list = WaitList()
    weak var left: Held?
    do {
      let held = Held()
      left = held
      let waits = (0..<100_000).map { _ in Wait(.origin, in: list) { _ in _ = held } }
      if isBackwards {
        for wait in waits.reversed() { wait.callOff() }
      } else {
        for wait in waits { wait.callOff() }
      }
    }
    #expect(list.isEmpty && left == nil)
  }
}
