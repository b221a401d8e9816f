import NetSpoolTesting
import Testing

@testable import NetSpool

/// How much runs at once, seen at the origin.
struct SizingTests {
  private func enqueue(_ count: Int, _ engine: NetworkEngine) -> [NetworkOperation] {
    (0..<count).map { engine.start(engine.operation(path: "/held", parameters: ["n": "\($0)"])) }
  }

  @Test(arguments: [1, 3, 16])
  func `a fixed width is what the origin sees, and no more`(width: Int) async throws {
    try await withEngine(queue: { $0.sizing = .fixed(width) }) { engine, origin in
      origin.hold("/held", .text("ok"))
      let operations = enqueue(width * 4, engine)
      for round in 1...4 {
        #expect(await origin.waitForWaiting("/held", width))
        #expect(origin.waitingCount("/held") == width)
        #expect(origin.hits("/held") == width * round)
        #expect(engine.configuration.queue.activity.running == width)
        origin.release("/held", count: width)
        if round < 4 { #expect(await origin.waitForHits("/held", width * (round + 1))) }
      }
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(origin.connectionCount == width)
    }
  }

  @Test func `widening and narrowing count at once`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(2) }) { engine, origin in
      let queue = engine.configuration.queue
      // However slow the machine is
      engine.driver.eachLoop { $0.seats.silence = .max }
      origin.hold("/held", .text("ok"))
      let operations = enqueue(40, engine)
      #expect(await origin.waitForWaiting("/held", 2))
      queue.sizing = .fixed(10)
      #expect(await origin.waitForWaiting("/held", 10))
      queue.maximumConcurrent = 4
      origin.release("/held", count: 9)
      #expect(await origin.waitForHits("/held", 13))
      #expect(await origin.waitForWaiting("/held", 4))
      #expect(origin.hits("/held") == 13)
      origin.release("/held")
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  @Test func `an origin without limits is given more`() async throws {
    // Given an origin that answers when it is told to.
    try await withEngine(queue: { $0.sizing = .adaptive }) { engine, origin in
      origin.on(prefix: "/held", .text("ok"))
      origin.hold("/held")
      let operations = enqueue(40, engine)
      // When the first round, six at once, has been answered.
      #expect(await origin.waitForWaiting("/held", 6))
      #expect(engine.configuration.queue.activity.running == 6)
      origin.release("/held", count: 6)
      // Then more are under way.
      #expect(await origin.waitForWaiting("/held", 7))
      origin.release("/held")
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  @Test func `an origin that closes every connection is asked by several at once`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(4) }) { engine, origin in
      for number in 0..<8 { origin.hold("/\(number)", .text("ok").closing()) }
      let operations = (0..<8).map { engine.start("/\($0)") }
      #expect(await origin.waitForRequests(4))
      for number in 0..<4 { origin.release("/\(number)") }
      #expect(await origin.waitForRequests(8))
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  @Test func `a suspended queue starts nothing and lets run what runs`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      let queue = engine.configuration.queue
      origin.hold("/held", .text("ok"))
      let operations = enqueue(3, engine)
      #expect(await origin.waitForWaiting("/held", 1))
      queue.isSuspended = true
      origin.release("/held")
      #expect(await operations[0].end().text == "ok")
      #expect(origin.hits("/held") == 1)
      #expect(queue.activity.queued == 2)
      queue.isSuspended = false
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  @Test func `a stuck origin takes no slot from another`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(8) }) { engine, origin in
      let stuck = try ScriptedOrigin()
      stuck.hold("/held")
      origin.on("/a", .text("ok"))
      let toStuck = try NetworkEngine(to: stuck, on: engine.configuration.queue)
      _ = enqueue(500, toStuck)
      #expect(await stuck.waitForWaiting("/held", 8))
      #expect(await engine.end(of: engine.operation(path: "/a")).text == "ok")
      #expect(stuck.hits("/held") == 8)
    }
  }

  @Test func `a width below one is refused and changes nothing`() throws {
    let changes: [(inout NetworkQueue.Configuration) -> Void] = [
      { $0.maximumConcurrent = 0 }, { $0.maximumPerOrigin = 0 }, { $0.sizing = .fixed(0) },
      { $0.sizing = .byLink(local: 1, cellular: 0) },
    ]
    let queue = try NetworkQueue()
    let before = queue.configuration
    for (index, change) in changes.enumerated() {
      let error = failure { try queue.configure { change(&$0) } }
      #expect(error?.code == .invalidConfiguration && queue.configuration == before, "change \(index)")
    }
  }

  @Test func `settings that others change meanwhile are kept`() throws {
    let queue = try NetworkQueue()
    try queue.configure { settings in
      queue.maximumPerOrigin = 7  // by another thread
      settings.maximumConcurrent = 5
    }
    #expect(queue.maximumConcurrent == 5 && queue.maximumPerOrigin == 7)
  }

  @Test func `a full queue says so, and takes more when there is room`() async throws {
    try await withEngine({ $0.limits.operationsQueuedMax = 10 }, queue: { $0.isSuspended = true }) {
      engine, origin in
      origin.on("/held", .text("ok"))
      let operations = enqueue(10, engine)
      #expect(await engine.end(of: engine.operation(path: "/held")).code == .queueFull)
      engine.configuration.queue.isSuspended = false
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(engine.configuration.queue.drainAndWait(deadline: .seconds(60)))
      #expect(await engine.end(of: engine.operation(path: "/held")).text == "ok")
    }
  }
}
