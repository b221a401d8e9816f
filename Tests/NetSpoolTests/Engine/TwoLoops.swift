import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// An engine, and two origins that are on different loops of its queue.
func withTwoLoops(
  _ queue: (inout NetworkQueue.Configuration) -> Void = { _ in },
  delivery: NetworkEngine.Delivery = .serialQueue,
  _ body: (NetworkEngine, ScriptedOrigin, ScriptedOrigin) async throws -> Void
) async throws {
  try await withQueue({
    $0.loops = .fixed(2)
    queue(&$0)
  }) { queue in
    let engine = try NetworkEngine(on: queue) {
      $0.redirects.resendsBodyAcrossOrigins = true
      $0.delivery = delivery
    }
    let here = try ScriptedOrigin()
    var there = try ScriptedOrigin()
    var others: [ScriptedOrigin] = []  // their ports are not to be given out again
    func number(_ origin: ScriptedOrigin) -> Int { queue.driver.number(for: origin.url("/"), of: engine) }
    while number(there) == number(here) {
      others.append(there)
      there = try ScriptedOrigin()
    }
    try await body(engine, here, there)
  }
}
