import Testing

@testable import NetSpool

@Suite struct HeldTimeTests {
  @Test func `only what lies after a time is counted`() {
    var held = HeldTime()
    #expect(held.since(0, now: 100) == 0)
    held.begin(10)
    held.begin(15)  // goes on
    #expect(held.since(0, now: 30) == 20 && held.since(25, now: 30) == 5 && held.since(40, now: 30) == 0)
    held.end(30)
    held.end(35)
    held.begin(50)
    #expect(held.since(0, now: 60) == 30 && held.since(20, now: 60) == 20 && held.since(30, now: 60) == 10)
  }

  @Test func `the oldest are forgotten`() {
    var held = HeldTime()
    for hold in 0..<100 as Range<Int64> {
      held.begin(hold * 10)
      held.end(hold * 10 + 1)
    }
    #expect(held.since(0, now: 2_000) == 64)
  }
}
