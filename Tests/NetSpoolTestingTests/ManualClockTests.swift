import Testing

@testable import NetSpoolTesting

@Suite struct ManualClockTests {
  private let clock = ManualClock()

  @Test func `an answer comes when its time has come, and no earlier`() async throws {
    let origin = try ScriptedOrigin(clock: clock)
    origin.on("/f", .text("hello").delay(.seconds(3_600)))
    origin.on("/now", .text("now"))
    let (client, other) = (try connected(origin), try connected(origin))
    client.ask("/f")
    #expect(await origin.waitForWaiting(ManualClock.gate, 1))
    clock.advance(by: .seconds(3_599))
    #expect(other.answer(to: "/now").body == "now" && origin.waitingCount(ManualClock.gate) == 1)
    clock.advance(by: .seconds(1))
    #expect(client.readAnswer().body == "hello")
  }

  @Test func `descriptors of origins that are gone go with them`() throws {
    weak var waker: Waker?
    do {
      let listed = try Waker()
      clock.add(listed)
      waker = listed
    }
    #expect(waker == nil)
    clock.advance(by: .seconds(1))
  }

  @Test func `all that was to be sent by then comes at once, and a gate in it holds`() async throws {
    let origin = try ScriptedOrigin(clock: clock)
    let slow = Answer.pattern(20_000).throttle(100).fault(.pause(.seconds(9)), at: .body(5_000))
    origin.on("/f", slow.fault(.gate("middle"), at: .body(10_000)).closing())
    let client = try connected(origin, asking: "/f")
    #expect(await origin.waitForWaiting(ManualClock.gate, 1))
    clock.advance(by: .seconds(3_600))
    #expect(await origin.waitForWaiting("middle", 1))
    #expect(origin.waitingCount(ManualClock.gate) == 0)
    origin.release("middle")
    #expect(await origin.waitForWaiting(ManualClock.gate, 1))
    clock.advance(by: .seconds(3_600))
    _ = client.readHead()
    #expect(BodyPattern.matches(client.readToEnd()))
  }
}
