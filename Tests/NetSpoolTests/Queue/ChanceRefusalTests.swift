import Testing

@testable import NetSpool
@testable import TestSupport

/// Refusals that come whatever is asked: a balancer with one of its replicas down.
@Suite(.notSanitized(.valuesAlone)) struct ChanceRefusalTests {
  static let seeds: [UInt64] = LongRun.isOn ? Array(1...16) : [1, 2]

  @Test(arguments: [2, 5, 10, 20, 33, 50], seeds)
  func `refusals that come by chance leave the origin its speed`(_ percent: Int, _ seed: UInt64) {
    for isQuick in [true, false] {
      // Given an origin that refuses so many, at once or as late as it answers.
      let origin = SimulatedOrigin("\(percent) % refused") {
        ($0.refusalPercent, $0.refusalSeconds) = (percent, isQuick ? 0.001 : nil)
      }
      var fixed = SizingSimulation(origin, OriginSizing(.fixed(6)), seed: seed)
      fixed.run(seconds: 20)
      var simulation = SizingSimulation(origin, seed: seed)
      simulation.run(seconds: 20)
      // Then it is asked no less than a fixed width of six asks it, learning included.
      let said = "\(percent) %, seed \(seed): \(simulation.rate())/s, fixed \(fixed.rate())/s"
      #expect(simulation.rate() >= 0.7 * fixed.rate(), "\(said)")
      // When all is well again, so is the speed, within five seconds.
      simulation.server.origin.refusalPercent = 0
      #expect(simulation.rate(ofNext: 2, after: 5) >= 0.9 * 6 / 0.05, "\(said)")
    }
  }

  @Test(arguments: seeds)
  func `a refusal by chance makes no fewer requests, and one of a limit does`(_ seed: UInt64) {
    var chance = SizingSimulation(.init("by chance") { $0.refusalPercent = 50 }, seed: seed)
    chance.run(seconds: 20)
    #expect(!chance.sizing.heedsRefusals)
    var limit = SizingSimulation(
      .init("so many a second", serviceSeconds: 0.02) { $0.ratePerSecond = 50 }, seed: seed)
    limit.run(seconds: 20)
    #expect(limit.sizing.heedsRefusals)
  }

  @Test(arguments: seeds)
  func `an origin that refuses all is probed once a second and found again`(_ seed: UInt64) {
    var simulation = SizingSimulation(.init("down") { $0.refusalPercent = 100 }, seed: seed)
    simulation.run(seconds: 10)
    let before = simulation.refusals.count
    simulation.run(seconds: 20)
    #expect((18...22).contains(simulation.refusals.count - before))
    // When it is back, it has its speed within five seconds.
    simulation.server.origin.refusalPercent = 0
    #expect(simulation.rate(ofNext: 2, after: 5) >= 6 / 0.05)
  }
}
