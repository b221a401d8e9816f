import NetSpoolCore
import Testing

@Suite struct OriginSizingTests {
  @Test func aFixedWidthStaysWhateverHappens() {
    var sizing = OriginSizing(.fixed(9))
    sizing.apply(.started, now: 0)
    sizing.apply(.throttled(retryAfter: 60), now: 1)
    #expect(sizing.limit(at: 2) == 9)
    #expect(sizing.holdUntil == nil)
  }

  @Test func theLinkChoosesTheWidth() {
    var sizing = OriginSizing(.byLink(local: 6, cellular: 2))
    #expect(sizing.limit(at: 0) == 6)
    sizing.link = .cellular
    #expect(sizing.limit(at: 0) == 2)
    sizing.sizing = .fixed(4)
    #expect(sizing.limit(at: 0) == 4)
  }

  @Test(arguments: [
    (QueueSizing.adaptive, true), (.fixed(1), true), (.fixed(0), false), (.fixed(-1), false),
    (.byLink(local: 6, cellular: 2), true), (.byLink(local: 0, cellular: 2), false),
    (.byLink(local: 6, cellular: 0), false),
  ])
  func aWidthBelowOneIsInvalid(_ sizing: QueueSizing, _ isValid: Bool) {
    #expect(sizing.isValid == isValid)
  }

  @Test func adaptiveStartsAtSixButNeverAboveItsMaximum() {
    #expect(OriginSizing().limit(at: 0) == 6)
    #expect(OriginSizing(maximum: 3).limit(at: 0) == 3)
    #expect(OriginSizing(maximum: 0).limit(at: 0) == 1)
  }

  @Test func aLoweredMaximumAppliesAtOnce() {
    var simulation = SizingSimulation(SimulatedOrigin(description: "slow", serviceSeconds: 0.2))
    simulation.run(seconds: 5)
    #expect(simulation.sizing.limit(at: simulation.now) == 64)
    simulation.sizing.maximum = 10
    #expect(simulation.sizing.limit(at: simulation.now) == 10)
  }

  @Test func withoutPressureTheWidthDoesNotGrow() {
    var sizing = OriginSizing()
    for request in 0..<1_000 as Range<Int64> {
      sizing.apply(.started, now: request * 1_000)
      sizing.apply(.finished(latency: 0.001, bytes: 100), now: request * 1_000 + 500)
    }
    #expect(sizing.limit(at: 2_000_000) == 6)
  }

  @Test func retryAfterHoldsAllNewStartsUntilItsTime() {
    var sizing = OriginSizing()
    sizing.apply(.started, now: 0)
    sizing.apply(.throttled(retryAfter: 2), now: 1_000_000)
    #expect(sizing.holdUntil == 3_000_000)
    #expect(sizing.limit(at: 2_999_999) == 0)
    #expect(sizing.limit(at: 3_000_000) >= 1)
  }

  @Test func aShorterRetryAfterDoesNotShortenTheHoldAndALongOneIsCutToAnHour() {
    var sizing = OriginSizing()
    for _ in 0..<3 { sizing.apply(.started, now: 0) }
    sizing.apply(.throttled(retryAfter: 5), now: 0)
    sizing.apply(.throttled(retryAfter: 1), now: 0)
    #expect(sizing.holdUntil == 5_000_000)
    sizing.apply(.throttled(retryAfter: 1e12), now: 0)
    #expect(sizing.holdUntil == 3_600_000_000)
  }

  @Test func anOriginThatRefusesEvenOneIsAskedLessAndLess() {
    var sizing = OriginSizing(maximum: 1)
    var waits: [Int64] = []
    var now: Int64 = 0
    for _ in 0..<12 {
      sizing.apply(.started, now: now)
      sizing.apply(.throttled(retryAfter: nil), now: now)
      waits.append((sizing.holdUntil ?? now) - now)
      now = sizing.holdUntil ?? now
    }
    #expect(waits.prefix(3) == [50_000, 100_000, 200_000])
    #expect(waits.last == 10_000_000)
  }

  @Test func failuresHalveTheWidthDownToOneAndItComesBack() {
    var origin = SimulatedOrigin(description: "down", serviceSeconds: 0.01)
    origin.failurePercent = 100
    var simulation = SizingSimulation(origin)
    simulation.run(seconds: 1)
    #expect(simulation.sizing.limit(at: simulation.now) == 1)
    simulation.origin.failurePercent = 0
    simulation.run(seconds: 1)
    #expect(simulation.sizing.limit(at: simulation.now) == 64)
  }
}

@Suite struct AdaptiveSizingSimulationTests {
  static let origins = [
    SimulatedOrigin(description: "fast", serviceSeconds: 0.001, workers: 4),
    SimulatedOrigin(description: "slow, wide", serviceSeconds: 0.2),
    SimulatedOrigin(description: "slow, 8 workers", serviceSeconds: 0.2, workers: 8),
    SimulatedOrigin(description: "refuses above 20", serviceSeconds: 0.05, inFlightMax: 20),
    SimulatedOrigin(description: "refuses above 3", serviceSeconds: 0.02, inFlightMax: 3),
    SimulatedOrigin(
      description: "refuses above 40, Retry-After 1", serviceSeconds: 0.05, inFlightMax: 40, retryAfter: 1),
    SimulatedOrigin(description: "one failure in a hundred", serviceSeconds: 0.05, failurePercent: 1),
  ]

  @Test(arguments: origins, [1, 2] as [UInt64])
  func adaptiveComesWithinATenthOfTheBestFixedWidth(_ origin: SimulatedOrigin, _ seed: UInt64) {
    var simulation = SizingSimulation(origin, seed: seed)
    simulation.run(seconds: origin.bestRate > 1_000 ? 5 : 20)
    let seconds = Double(simulation.now) / 1_000_000
    let rate = Double(simulation.answers) / seconds
    #expect(rate >= 0.9 * origin.bestRate, "\(rate) of \(origin.bestRate), seed \(seed)")
    #expect(simulation.refusals * 100 <= simulation.answers, "\(simulation.refusals) refusals, seed \(seed)")
    #expect(simulation.startedWhileHeld == 0)
  }

  @Test func aCrowdedOriginIsNotFloodedAsTimeGoesBy() {
    var simulation = SizingSimulation(Self.origins[2])
    for _ in 0..<10 {
      simulation.run(seconds: 60)
      #expect((8...24).contains(simulation.sizing.limit(at: simulation.now)))
    }
  }

  @Test func anUnchangingLimitIsTriedMoreAndMoreRarely() {
    var simulation = SizingSimulation(Self.origins[3])
    simulation.run(seconds: 10)
    let early = simulation.refusals
    simulation.run(seconds: 50)
    #expect(simulation.refusals - early <= 10)
    #expect(simulation.answers > 20_000)
  }

  @Test func anOriginThatBecameWiderIsFollowed() {
    var simulation = SizingSimulation(
      SimulatedOrigin(description: "refuses above 10", serviceSeconds: 0.05, inFlightMax: 10))
    simulation.run(seconds: 20)
    #expect((9...11).contains(simulation.sizing.limit(at: simulation.now)))
    simulation.origin.inFlightMax = 1_000
    simulation.run(seconds: 60)
    #expect(simulation.sizing.limit(at: simulation.now) >= 20)
  }
}
