import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Who asks many servers for one page each.
struct OriginRetirementTests {
  /// Asks so many origins at which nobody listens, and waits for the end.
  private func ask(_ numbers: Range<Int>, _ engine: NetworkEngine) async {
    let operations = numbers.map { engine.operation(url: "http://127.1.\($0 / 250).\($0 % 250 + 1):9/") }
    _ = await engine.enqueue(operations).results
  }

  private func originCount(_ queue: NetworkQueue) async -> Int {
    await withCheckedContinuation { continuation in
      let count = Counter()
      queue.driver.performEverywhere {
        count.add($0.origins.all.count)
      } done: {
        continuation.resume(returning: count.value)
      }
    }
  }

  @Test func `origins that are not used are forgotten, and found again`() async throws {
    try await withEngine(queue: { $0.sizing = .adaptive }) { engine, origin in
      let queue = engine.configuration.queue
      origin.on("/a", .text("a"))
      // Given one origin in use all the time, and one whose only operation is paused
      let held = await engine.held("/held", .text("held"), at: origin)
      let other = try ScriptedOrigin()
      other.hold("/paused", .text("paused"))
      let paused = engine.start(engine.operation(url: other.url("/paused")))
      #expect(await other.waitForWaiting("/paused", 1))
      paused.pause()
      // When thousands of others have been asked, one after the other
      for batch in 0..<6 { await ask(batch * 600..<(batch + 1) * 600, engine) }
      // Then few are remembered, those two among them
      #expect(await originCount(queue) <= 2_500)
      other.release("/paused")
      paused.resume()
      #expect(await paused.end().text == "paused")
      origin.release("/held")
      #expect(await held.end().text == "held")
      #expect(origin.connectionCount == 1)
      // And one that was forgotten is found as at first
      await ask(0..<100, engine)
      #expect(await engine.end(of: engine.operation(path: "/a")).text == "a")
    }
  }

  @Test func `origins that were all in use at once are forgotten once they are idle`() async throws {
    try await withQueue({ ($0.isSuspended, $0.connectionsIdleMax) = (true, 1_000) }) { queue in
      let engine = try NetworkEngine(on: queue)
      async let ends: Void = ask(0..<3_000, engine)
      #expect(await until { await originCount(queue) == 3_000 })
      queue.isSuspended = false
      await ends
      #expect(await until { await originCount(queue) <= 1_024 })
    }
  }
}
