import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// A program goes by an error's code and cause, and never by its words.
@Suite struct ErrorCauseTests {
  @Test func `an error has its cause in one word`() async throws {
    try await withEngine { engine, origin in
      origin.on("/late", .noAnswer)
      origin.on("/missing", .status(404))
      // When nothing listens
      let refused = await engine.end(of: engine.operation(url: "http://127.0.0.1:1/")).error
      #expect(refused?.code == .connectFailed && refused?.cause == .refused)
      #expect(refused?.cause?.description == refused?.reason)
      // When a limit of time is passed
      let late = engine.operation(path: "/late")
      late.timeouts.headers = .milliseconds(50)
      #expect(await engine.end(of: late).error?.cause == .headers)
      // When the code says it all
      #expect(await engine.end(of: engine.operation(path: "/missing")).error?.cause == nil)
    }
  }

  @Test func `a full queue tells which of its limits it was`() async throws {
    try await withEngine({ $0.limits.operationsQueuedMax = 1 }) { engine, origin in
      let held = await engine.held("/held", at: origin)
      let refused = await engine.end(of: engine.operation(path: "/more")).error
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
        let operations = (0..<3).map { _ in engine.operation(path: "/") }
        for (one, next) in zip(operations, operations.dropFirst()) {
          one.onFinal { _ in engine.enqueue(next) }
        }
        engine.enqueue(operations[0])
        for operation in operations { #expect(await operation.end().text == "ok") }
        #expect(await engine.end(of: engine.operation(path: "/")).text == "ok")
      }
    }
  }
}
