import Testing

@testable import NetSpool
@testable import TestSupport

/// The thread that looks into a store for those who must not wait.
struct StoreLookerTests {
  @Test func `takes nothing more while a job takes too long, and goes on by itself`() async {
    // Given a job that waits for its disk
    let looker = StoreLooker(patience: 10_000)
    let (hasBegun, mayGoOn, done) = (Latch(), Latch(), Journal<Int>())
    let isTaken = looker.run {
      hasBegun.open()
      mayGoOn.block()
    }
    #expect(isTaken)
    await hasBegun.opened()
    // When others come, then those are taken that come in time
    var taken: [Int] = []
    while true {
      let number = taken.count
      let isTaken = looker.run { done.add(number) }
      guard isTaken else { break }
      taken.append(number)
    }
    #expect(looker.isStuck && done.entries.isEmpty)
    // And they are done in their order once it goes on, and there is place for more
    mayGoOn.open()
    #expect(await until { looker.run { done.add(-1) } })
    looker.stop()
    #expect(done.entries == taken + [-1])
    let isTakenLate = looker.run {}
    #expect(!isTakenLate)
  }

  @Test func `what jobs keep in memory is bounded, and who keeps nothing there is not refused`() {
    let (looker, mayGoOn) = (StoreLooker(patience: 600 * .second), Latch())
    let first = looker.run { mayGoOn.block() }
    let large = looker.run(bytes: 33 << 20) {}
    let small = looker.run(bytes: 1) {}
    let nothing = looker.run {}
    #expect(first && large && !small && nothing)
    mayGoOn.open()
    looker.stop()
  }
}
