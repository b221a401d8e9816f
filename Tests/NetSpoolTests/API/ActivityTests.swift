import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

struct ActivityTests {
  @Test func `counts what waits and what runs, and ends at nothing`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(4) }) { engine, origin in
      let queue = engine.configuration.queue
      let changes = Journal<NetworkQueue.Activity>()
      let over = Latch()
      queue.onActivityChange { activity in
        changes.add(activity)
        if !activity.isBusy { over.open() }
      }
      origin.hold("/held", .text("12345"))
      let tally = Tally()
      for number in 0..<20 { tally.start(engine.operation(path: "/held", parameters: ["n": "\(number)"])) }
      #expect(await origin.waitForWaiting("/held", 4))
      await engine.settle()
      #expect(queue.activity.running == 4)
      #expect(queue.activity.queued == 16)
      origin.release("/held")
      await tally.wait(for: 20)
      await over.opened()
      #expect(queue.activity.bytesIn == 100)
      #expect(!queue.activity.isBusy)
      #expect(changes.entries.allSatisfy { $0.running <= 4 && $0.queued <= 20 })
      #expect(changes.entries.contains { $0.running == 4 })
    }
  }

  @Test func `an observer that falls behind hears of the newest, and of few before`() async throws {
    let (observers, told) = (QueueObservers(), Journal<Int>())
    let (begun, mayGoOn, over) = (Latch(), Latch(), Latch())
    observers.add(activity: { activity in
      told.add(activity.queued)
      begun.open()
      mayGoOn.block()
      if activity.queued == 10_000 { over.open() }
    })
    for number in 1...10_000 {
      observers.tell { NetworkQueue.Activity(queued: number, running: 0, frozen: 0, bytesIn: 0, bytesOut: 0) }
    }
    await begun.opened()
    mayGoOn.open()
    await over.opened()
    #expect(told.entries.first == 1 && told.entries.last == 10_000)
    #expect(told.entries.count <= QueueObservers.undeliveredMax)
  }

  @Test func `an observer that blocks holds up no other`() async throws {
    let observers = QueueObservers()
    let (goesOn, hears, isIdle) = (Latch(), Latch(), Latch())
    defer { goesOn.open() }
    observers.add(activity: { _ in goesOn.block() })
    observers.add(idle: { goesOn.block() })
    observers.add(activity: { activity in if activity.queued == 2 { hears.open() } })
    observers.add(idle: { isIdle.open() })
    for number in 1...2 {
      observers.tell { NetworkQueue.Activity(queued: number, running: 0, frozen: 0, bytesIn: 0, bytesOut: 0) }
    }
    observers.tellIdle()
    await hears.opened()
    await isIdle.opened()
  }

  @Test func `idle is told once for each time it was busy, after the last closure`() async throws {
    try await withEngine { engine, origin in
      let queue = engine.configuration.queue
      let events = Journal<String>()
      let heard = Journal<Latch>()
      queue.onIdle {
        events.add("idle")
        heard.entries.last?.open()
      }
      origin.on("/a", .text("ok"))
      for _ in 0..<3 {
        let latch = Latch()
        heard.add(latch)
        engine.enqueue(engine.operation(path: "/a").onCompletion { _ in events.add("ended") })
        await latch.opened()
      }
      #expect(events.entries == ["ended", "idle", "ended", "idle", "ended", "idle"])
    }
  }

  @Test func `draining waits for the last ending, no longer than it may`() async throws {
    try await withEngine { engine, origin in
      let queue = engine.configuration.queue
      #expect(queue.drainAndWait(deadline: .seconds(0.01)))
      origin.hold("/held", .text("ok"))
      let operation = engine.start("/held")
      #expect(!queue.drainAndWait(deadline: .seconds(0.01)))
      origin.release("/held")
      #expect(queue.drainAndWait(deadline: .seconds(60)))
      #expect(operation.state == .finished)
    }
  }
}
