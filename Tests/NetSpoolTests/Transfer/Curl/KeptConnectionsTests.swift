import NetSpoolTesting
import Testing

@testable import NetSpool

@Suite struct KeptConnectionsTests {
  @Test func `a loop keeps as many connections as it has had in flight within a minute`() {
    var kept = KeptConnections(few: 32, room: BudgetRoom(256))
    #expect(kept.count == 32)
    #expect((1...32).allSatisfy { kept.change(running: $0, now: 1) == nil })
    #expect(kept.change(running: 33, now: 1) == 41)
    #expect((34...41).allSatisfy { kept.change(running: $0, now: 1) == nil })
    #expect(kept.change(running: 64, now: 2) == 80)
    #expect(kept.change(running: 10, now: 60_000_001) == 64)
    #expect(kept.change(running: 12, now: 100_000_000) == nil)
    #expect(kept.change(running: 10, now: 120_000_001) == 32)
  }

  @Test func `all loops of a process keep half of its descriptors, and each has some of its own`() {
    let room = BudgetRoom(256)
    var greedy = KeptConnections(few: 32, room: room)
    var others = (0..<7).map { _ in KeptConnections(few: 32, room: room) }
    for running in 1...1_000 { _ = greedy.change(running: running, now: 1) }
    for index in others.indices { _ = others[index].change(running: 100, now: 1) }
    #expect(greedy.count == 32 + 256)
    #expect(others.allSatisfy { $0.count == 32 })
    greedy.giveBack()
    #expect(greedy.count == 32)
    #expect(others[0].change(running: 100, now: 2) == 125)
  }

  @Test func `a loop without a transfer closes its connections, and opens others when asked`() async throws {
    let origin = try ScriptedOrigin()
    origin.fallback(.text("ok"))
    try await withQueue({ $0.connectionsIdleMax = 50_000 }) { queue in
      let engine = try NetworkEngine(on: queue)
      for round in 1...3 {
        for _ in 1...4 { _ = await engine.end(of: engine.operation(url: origin.url("/"))) }
        #expect(await origin.waitForOpenConnections(0))
        #expect(origin.connectionCount >= round)
      }
    }
  }
}
