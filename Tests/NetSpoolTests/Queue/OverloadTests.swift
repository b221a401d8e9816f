import Dispatch
import Testing

@testable import NetSpool
@testable import TestSupport

/// More is asked for than can be done.
@Suite struct OverloadTests {
  private static let origins = [
    SimulatedOrigin("eight workers") { $0.workers = 8 },
    SimulatedOrigin("refuses above 20 with Retry-After 1") { ($0.inFlightMax, $0.retryAfter) = (20, 1) },
  ]

  /// Goodput, in virtual time.
  @Test(.notSanitized(.timeIsNoMeasure), arguments: origins)
  func `ten times too much leaves nine tenths of what an origin gives at best`(_ origin: SimulatedOrigin) {
    let peak = FixedWidths(origin).best.rate
    var simulation = SizingSimulation(origin, load: .open(10 * peak))
    let rate = simulation.rate(ofNext: 20, after: 10)
    #expect(rate >= 0.9 * peak, "\(rate) of \(peak)")
  }

  @Test(.notSanitized(.timeIsNoMeasure), arguments: [1, 2, 3] as [UInt64])
  func `an origin that takes 20 and wants a second of quiet is asked nearly as well as by 19 at once`(
    _ seed: UInt64
  ) {
    let origin = Self.origins[1]
    var fixed = SizingSimulation(origin, OriginSizing(.fixed(19)), seed: seed)
    fixed.run(seconds: 20)
    var simulation = SizingSimulation(origin, seed: seed)
    let (rate, best) = (simulation.rate(ofNext: 30, after: 10), fixed.rate())
    #expect(rate >= best / 1.1, "\(rate) of \(best)")
  }

  @Test func `a full queue refuses without its loop, and says why`() async throws {
    try await withEngine({ $0.limits.operationsQueuedMax = 100 }, queue: { $0.isSuspended = true }) {
      engine, origin in
      let held = (0..<100).map { engine.start(engine.operation(path: "/held", parameters: ["n": "\($0)"])) }
      let goesOn = await engine.configuration.queue.heldLoop()
      // From the caller's thread to the closure and back
      let reasons = await blocking {
        var reasons: Set<String> = []
        for number in 0..<1_000 {
          let (said, isSaid) = (Journal<String>(), DispatchSemaphore(value: 0))
          let refused = engine.operation(path: "/more", parameters: ["n": "\(number)"])
          refused.onFinal { result in
            said.add("\(result.error?.code.description ?? "") \(result.error?.reason ?? "")")
            isSaid.signal()
          }
          engine.enqueue(refused)
          isSaid.wait()
          reasons.formUnion(said.entries)
        }
        return reasons
      }
      #expect(reasons == ["queueFull operations"])
      goesOn.open()
      engine.cancelAll()
      for operation in held { #expect(await operation.end().code == .cancelled) }
    }
  }
}
