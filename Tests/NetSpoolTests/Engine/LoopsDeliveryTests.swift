import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Closures on the loop thread, of which a queue has several.
struct LoopsDeliveryTests {
  @Test func `a handler that comes beside the last ones is called behind them`() async throws {
    try await withQueue({ $0.loops = .fixed(2) }) { queue in
      let engine = try NetworkEngine(on: queue) { $0.delivery = .loopThread }
      var origins = [try ScriptedOrigin(answering: .text("ok"))]
      while queue.driver.number(for: origins.last!.url("/"), of: engine) == queue.driver.home.number {
        origins.append(try ScriptedOrigin(answering: .text("ok")))
      }
      let (isTold, isAdded, calls) = (Latch(), Latch(), Journal<String>())
      let operation = engine.operation(url: origins.last!.url("/"))
        .onCompletion { _ in
          isTold.open()
          isAdded.block()
        }
        .onCompletion { _ in calls.add("second") }
      engine.enqueue(operation)
      await isTold.opened()
      operation.onCompletion { _ in calls.add("third") }
      await queue.onLoop { _ in }
      isAdded.open()
      #expect(await until { calls.entries.count == 2 })
      #expect(calls.entries == ["second", "third"])
    }
  }
}
