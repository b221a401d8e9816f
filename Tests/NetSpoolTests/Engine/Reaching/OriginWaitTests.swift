import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Waiting for an origin")
struct OriginWaitTests {
  @Test func `a request that did not get through waits for its origin`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("hello"))
      origin.stop()
      let operation = engine.start(engine.operation(path: "a").configure { $0.waitsForOrigin = true })
      #expect(await engine.get("/b").end().code == .connectFailed)
      let queue = engine.configuration.queue
      #expect(await until { await queue.snapshot.origins.first?.health == .originDown })
      #expect(operation.state == .queued)
      // What the try has taken is taken off the total
      let spent = await operation.port.onLoop(of: engine.id) { _ in operation.loop.history?.spent ?? 0 }
      #expect(spent > 0)
      try origin.start()
      let ending = await operation.end()
      #expect(ending.text == "hello" && ending.response?.metrics.attempts == 2, "\(ending)")
      #expect(origin.requestCount == 1)
    }
  }

  @Test func `it waits no longer than its deadline in the queue, and not when it is cancelled`() async throws
  {
    try await withEngine { engine, origin in
      origin.stop()
      let operation = engine.operation(path: "a").configure {
        $0.waitsForOrigin = true
        $0.timeouts = .queueDeadline(.milliseconds(300))
      }
      let ending = await engine.end(of: operation)
      #expect(ending.code == .timedOut && ending.reason == "queueDeadline")
      let other = engine.start(engine.operation(path: "b").configure { $0.waitsForOrigin = true })
      await engine.settle()
      other.cancel()
      #expect(await other.end().code == .cancelled)
    }
  }

  @Test func `the time of a try is not taken off the deadline in the queue`() async throws {
    let hole = try BlackHole()
    try await withEngine { engine, _ in
      let operation = engine.operation(url: "http://127.0.0.1:\(hole.port)/").configure {
        $0.waitsForOrigin = true
        $0.timeouts = .init(connect: .milliseconds(400), queueDeadline: .milliseconds(300))
      }
      let ending = await engine.end(of: operation)
      #expect(ending.code == .timedOut && ending.reason == "queueDeadline", "\(ending)")
    }
  }

  @Test func `what went wrong behind the connection is not waited for`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.status(503))
      let operation = engine.operation(path: "a").configure { $0.waitsForOrigin = true }
      #expect(await engine.end(of: operation).code == .status)
    }
  }

  @Test func `a queue shows its origins`() async throws {
    try await withEngine { engine, origin in
      let queue = engine.configuration.queue
      #expect(await queue.snapshot.origins.isEmpty)
      origin.hold("/held")
      origin.fallback(.text("hello"))
      let operations = engine.start(engine.apart(20, "held"))
      #expect(await origin.waitForWaiting("/held", 16))
      let busy = try #require(await queue.snapshot.origins.first)
      #expect(busy.origin == "http://127.0.0.1:\(origin.port)" && busy.width == 16)
      #expect(busy.running == 16 && busy.waiting == 4 && busy.connections == 16)
      #expect(busy.pace == nil && busy.quiet == nil && busy.health == nil)
      origin.releaseAll()
      for operation in operations { _ = await operation.end() }
      let idle = try #require(await queue.snapshot.origins.first)
      #expect(idle.running == 0 && idle.waiting == 0 && idle.connections > 0)
    }
  }
}
