import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// An engine, and two origins: one on the queue's home loop, and one on the other.
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
    var others: [ScriptedOrigin] = []  // their ports are not to be given out again
    func origin(isHome: Bool) throws -> ScriptedOrigin {
      while true {
        let origin = try ScriptedOrigin()
        others.append(origin)
        let number = queue.driver.number(for: origin.url("/"), of: engine)
        if (number == queue.driver.home.number) == isHome { return origin }
      }
    }
    let (here, there) = (try origin(isHome: true), try origin(isHome: false))
    try await body(engine, here, there)
  }
}
