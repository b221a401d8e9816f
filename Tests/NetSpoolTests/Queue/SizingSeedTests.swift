import Testing

@testable import NetSpool
@testable import TestSupport

/// The adaptive width against origins of many kinds, each with many seeds: `NETSPOOL_LONG=1` tries hundreds of each.
@Suite(.notSanitized(.valuesAlone)) struct SizingSeedTests {
  /// An origin, and the good answers in a second that the best width or pace gets of it.
  struct Scene: Sendable, CustomTestStringConvertible {
    var origin: SimulatedOrigin
    var best: Double
    /// Seeds with which a width once failed.
    var seeds: [UInt64] = []

    var testDescription: String { origin.description }

    init(_ description: String, best: Double, _ seeds: [UInt64] = [], _ set: (inout SimulatedOrigin) -> Void)
    {
      (origin, self.best, self.seeds) = (SimulatedOrigin(description, set), best, seeds)
    }
  }

  static func seeds(of scene: Scene) -> [UInt64] { scene.seeds + Array(1...(LongRun.isOn ? 400 : 3)) }

  @Test(arguments: [
    Scene("a sharp limit of 20", best: 380, [42, 44]) { $0.inFlightMax = 20 },
    Scene("a sharp limit of 20, Retry-After 1", best: 380) { ($0.inFlightMax, $0.retryAfter) = (20, 1) },
    Scene("a sharp limit of 5", best: 80) { $0.inFlightMax = 5 },
    Scene("a limit of 20 that lags", best: 380, [59, 1_899, 1_999]) {
      ($0.inFlightMax, $0.lagPercent, $0.lagSeconds) = (20, 5, 0.003)
    },
    Scene("a limit of 20 that lags, Retry-After 1", best: 380, [286, 469, 1_176]) {
      ($0.inFlightMax, $0.retryAfter, $0.lagPercent, $0.lagSeconds) = (20, 1, 5, 0.003)
    },
    Scene("a limit of 20 and noise", best: 190, [144, 255, 605]) {
      ($0.inFlightMax, $0.slowPercent, $0.slowSeconds) = (20, 10, 0.5)
    },
    Scene("a bucket of 5 a second", best: 5, [28, 43, 265]) { $0.ratePerSecond = 5 },
    Scene("a bucket of 20 a second, 5 at once", best: 20, [40, 250, 1_430]) {
      ($0.ratePerSecond, $0.burst) = (20, 5)
    },
    Scene("a bucket of 50 a second", best: 50, [1, 46]) { $0.ratePerSecond = 50 },
    Scene("a bucket of 100 a second, 20 at once", best: 100, [907, 1_136, 1_158]) {
      ($0.ratePerSecond, $0.burst) = (100, 20)
    },
    Scene("a bucket of 200 a second, 50 at once", best: 200, [340, 343]) {
      ($0.ratePerSecond, $0.burst) = (200, 50)
    },
  ])
  func `a limit is kept to one refusal in a hundred, and half its speed is there 5 s after the last`(
    _ scene: Scene
  ) {
    for seed in Self.seeds(of: scene) {
      var simulation = SizingSimulation(scene.origin, seed: seed)
      simulation.run(seconds: 10)
      let learned = simulation.seconds
      // Whenever there has been no refusal for five seconds, it has its speed.
      let rate = Self.rateOfQuiet(&simulation, windows: 2)
      #expect((rate ?? 0) >= 0.55 * scene.best, "seed \(seed): \(rate as Any)/s, width \(simulation.limit)")
      simulation.run(seconds: 200, answersMax: max(simulation.answers, 5_000))
      let refused = simulation.refusedPercent(after: learned)
      #expect(refused <= 1, "seed \(seed): \(refused) %")
    }
  }

  /// So slow that a second says nothing, or that one refusal costs more than an answer.
  @Test(arguments: [
    Scene("30 a minute, 10 at once", best: 0.5) { ($0.ratePerSecond, $0.burst) = (0.5, 10) },
    Scene("30 a minute, 10 at once, Retry-After 2", best: 0.5) {
      ($0.ratePerSecond, $0.burst, $0.retryAfter) = (0.5, 10, 2)
    },
    Scene("one a second, 10 at once", best: 1) { ($0.ratePerSecond, $0.burst) = (1, 10) },
    Scene("2 a second, 10 at once, Retry-After 2", best: 2) {
      ($0.ratePerSecond, $0.burst, $0.retryAfter) = (2, 10, 2)
    },
    Scene("5 a second, 20 at once, Retry-After 1", best: 5) {
      ($0.ratePerSecond, $0.burst, $0.retryAfter) = (5, 20, 1)
    },
    Scene("20 a second, 20 at once, Retry-After 1", best: 20) {
      ($0.ratePerSecond, $0.burst, $0.retryAfter) = (20, 20, 1)
    },
  ])
  func `an origin that allows few in a time gives nearly all of them, and refuses one in twenty at most`(
    _ scene: Scene
  ) {
    for seed in Self.seeds(of: scene) {
      var simulation = SizingSimulation(scene.origin, seed: seed)
      simulation.run(seconds: 60)
      let learned = simulation.seconds
      simulation.run(seconds: 600)
      let (rate, refused) = (simulation.rate(after: learned), simulation.refusedPercent(after: learned))
      #expect(rate >= 0.9 * scene.best && refused <= 5, "seed \(seed): \(rate)/s, refused \(refused) %")
    }
  }

  /// Half of what six at once are given, at least: with one seed in three hundred, one in fifty is hard to tell from a limit.
  @Test(arguments: [
    Scene("one in fifty refused", best: 60, [86, 149, 508, 708, 1_818]) { $0.refusalPercent = 2 },
    Scene("one in ten refused", best: 60) { $0.refusalPercent = 10 },
    Scene("one of three replicas is down", best: 60) { $0.refusalPercent = 33 },
    Scene("one of two replicas is down", best: 60, [1_118, 76, 635, 653, 733, 973, 1_183]) {
      $0.refusalPercent = 50
    },
  ])
  func `half the speed is back 5 s after the last refusal by chance`(_ scene: Scene) {
    for seed in Self.seeds(of: scene) {
      var simulation = SizingSimulation(scene.origin, seed: seed)
      simulation.run(seconds: 20)
      simulation.server.origin.refusalPercent = 0
      let rate = Self.rateOfQuiet(&simulation, windows: 1) ?? 0
      #expect(rate >= scene.best, "seed \(seed): \(rate)/s, width \(simulation.limit)")
    }
  }

  @Test func `an origin that takes more from second to second is followed`() {
    let scene = Scene("slow start", best: 380, [323, 884, 1_852]) { $0.inFlightMax = 2 }
    for seed in Self.seeds(of: scene) {
      var simulation = SizingSimulation(scene.origin, seed: seed)
      for limit in 2..<22 {
        simulation.server.origin.inFlightMax = limit
        simulation.run(seconds: 1)
      }
      simulation.run(seconds: 60)
      let rate = Self.rateOfQuiet(&simulation, windows: 1) ?? 0
      #expect(rate >= 0.6 * scene.best && simulation.refusedPercent() <= 1, "seed \(seed): \(rate)/s")
    }
  }

  @Test func `noise alone narrows nothing`() {
    let scene = Scene("noise", best: 20 / 0.095, [323, 1_034]) {
      ($0.slowPercent, $0.slowSeconds) = (10, 0.5)
    }
    for seed in Self.seeds(of: scene) {
      var simulation = SizingSimulation(scene.origin, seed: seed)
      #expect(simulation.rate(ofNext: 2, after: 5) >= scene.best, "seed \(seed)")
    }
  }

  /// The lowest rate in two seconds without a refusal that begin five seconds after one, as many times.
  private static func rateOfQuiet(_ simulation: inout SizingSimulation, windows: Int) -> Double? {
    var lowest: Double?
    var left = windows
    while left > 0, simulation.seconds < 200 {
      let quietSince = Double(simulation.refusals.last ?? 0) / 1e6 + 5
      if simulation.seconds < quietSince {
        simulation.run(seconds: quietSince - simulation.seconds + 1e-3)
        continue
      }
      let (begin, refusals) = (simulation.seconds, simulation.refusals.count)
      simulation.run(seconds: 2)
      guard simulation.refusals.count == refusals else { continue }
      left -= 1
      lowest = min(lowest ?? .infinity, simulation.rate(after: begin))
    }
    return left == 0 ? lowest : nil
  }
}
