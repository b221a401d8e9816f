import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// A program goes by an error's code and cause, and never by its words.
@Suite struct ErrorCauseTests {
  private func error(_ operation: NetworkOperation, _ engine: NetworkEngine) async -> NetworkError? {
    await engine.end(of: operation).error
  }

  @Test func `an error has its cause in one word`() async throws {
    try await withEngine { engine, origin in
      origin.on("/late", .noAnswer)
      origin.on("/missing", .status(404))
      // When nothing listens
      let refused = await error(engine.operation(url: "http://127.0.0.1:1/"), engine)
      #expect(refused?.code == .connectFailed && refused?.cause == .refused)
      #expect(refused?.cause?.description == refused?.reason)
      // When a limit of time is passed
      let late = engine.operation(path: "/late")
      late.timeouts.headers = .milliseconds(50)
      #expect(await error(late, engine)?.cause == .headers)
      // When the code says it all
      #expect(await error(engine.operation(path: "/missing"), engine)?.cause == nil)
    }
  }

  @Test func `a full queue tells which of its limits it was`() async throws {
    try await withEngine({ $0.limits.operationsQueuedMax = 1 }) { engine, origin in
      let held = await engine.held("/held", at: origin)
      let refused = await error(engine.operation(path: "/more"), engine)
      #expect(refused?.code == .queueFull && refused?.cause == .operations)
      held.cancel()
    }
  }

  @Test(arguments: [false, true])
  func `what has ended is not in the queue any more when its answer is seen`(onLoop: Bool) async throws {
    try await withEngine {
      $0.limits.operationsQueuedMax = 1
      if onLoop { $0.delivery = .loopThread }
    } _: { engine, origin in
      origin.on("/", .text("ok"))
      for _ in 0..<100 {
        let (said, isSaid) = (Journal<String?>(), Latch())
        let (first, second) = (engine.operation(path: "/"), engine.operation(path: "/"))
        second.onFinal {
          said.add($0.error?.reason)
          isSaid.open()
        }
        first.onFinal {
          said.add($0.error?.reason)
          engine.enqueue(second)
        }
        engine.enqueue(first)
        await isSaid.opened()
        #expect(said.entries == [nil, nil])
        #expect(await engine.end(of: engine.operation(path: "/")).text == "ok")
      }
    }
  }
}
