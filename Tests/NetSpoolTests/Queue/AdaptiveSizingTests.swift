import Testing

@testable import NetSpool
@testable import TestSupport

/// The adaptive width against simulated origins, compared with the best fixed width for each.
@Suite(.notSanitized(.valuesAlone))
struct AdaptiveSizingTests {
  /// An origin, how soon it must be understood, and how many refusals that may cost afterwards.
  struct Case: Sendable, CustomTestStringConvertible {
    var origin: SimulatedOrigin
    /// Within so many seconds.
    var settled = 5.0
    /// Of the best fixed width's rate, afterwards.
    var share = 0.9
    /// Times the best fixed width's p99, afterwards; beside the 10 ms that are not looked at.
    var slower = 3.0

    var testDescription: String { origin.description }
  }

  /// Found once for all tests and seeds.
  static let fixed = Dictionary(
    uniqueKeysWithValues: cases.map { ($0.origin.description, FixedWidths($0.origin)) })

  static let cases = [
    Case(origin: .init("fast", serviceSeconds: 0.001) { $0.workers = 4 }, settled: 1),
    Case(origin: .init("slow, wide", serviceSeconds: 0.2)),
    Case(origin: .init("slow, 8 workers", serviceSeconds: 0.2) { $0.workers = 8 }),
    Case(origin: .init("24 workers") { $0.workers = 24 }),
    Case(origin: .init("one worker", serviceSeconds: 0.1) { $0.workers = 1 }, slower: 5),
    Case(
      origin: .init("one in ten is slow", serviceSeconds: 0.01) {
        ($0.workers, $0.slowPercent, $0.slowSeconds) = (12, 10, 0.1)
      }),
    Case(
      origin: .init("a full link") { ($0.linkBytesPerSecond, $0.bodyBytes) = (1e7, 1_000_000) },
      settled: 10, slower: 5),
    Case(origin: .init("closes its connections") { $0.closesConnections = true }, settled: 3),
    Case(origin: .init("one failure in a hundred") { $0.failurePercent = 1 }),
    Case(origin: .init("fails above 20") { $0.collapsesAbove = 20 }, share: 0.8),
    Case(origin: .init("refuses above 20") { $0.inFlightMax = 20 }),
    Case(origin: .init("refuses above 3", serviceSeconds: 0.02) { $0.inFlightMax = 3 }),
    Case(
      origin: .init("refuses above 40, Retry-After 1") { ($0.inFlightMax, $0.retryAfter) = (40, 1) },
      settled: 8),
    Case(origin: .init("20 a second, quick", serviceSeconds: 0.001) { $0.ratePerSecond = 20 }),
    Case(origin: .init("100 a second in bursts of 20") { ($0.ratePerSecond, $0.burst) = (100, 20) }),
  ]

  @Test(arguments: cases, LongRun.isOn ? [1, 2, 3, 4] : [1] as [UInt64])
  func `comes within a tenth of the best fixed width`(_ test: Case, _ seed: UInt64) throws {
    // Given what fixed widths reach.
    let fixed = try #require(Self.fixed[test.origin.description])
    let best = fixed.best
    // When it has had time to look around.
    var simulation = SizingSimulation(test.origin, seed: seed)
    simulation.run(seconds: test.settled)
    let warm = simulation.seconds
    simulation.run(seconds: 15, answersMax: simulation.answers + 1_200)
    // Then it is as good, and asks no more of the origin than it takes.
    let said = """
      seed \(seed): \(Int(simulation.rate(after: warm)))/s, p99 \(Int(simulation.p99(after: warm) * 1000)) ms, \
      refused \(simulation.refusedPercent(after: warm)) %, width \(simulation.limit), best \(best.width)
      \(fixed)
      """
    #expect(simulation.rate(after: warm) >= test.share * best.rate, "\(said)")
    #expect(simulation.p99(after: warm) <= test.slower * best.p99 + 0.01, "\(said)")
    #expect(simulation.refusedPercent(after: warm) <= 1.5, "\(said)")
    #expect(simulation.runningMax <= 64 && simulation.startedWhileHeld == 0, "\(said)")
  }

  @Test(arguments: cases.filter { $0.origin.ratePerSecond == nil })
  func `an open load under the origin's limit is served at once`(_ test: Case) throws {
    // Given arrivals at six tenths of what the best fixed width takes.
    let best = try #require(Self.fixed[test.origin.description]).best
    let arrivals = 0.6 * best.rate
    var simulation = SizingSimulation(test.origin, load: .open(arrivals), seed: 3)
    simulation.run(seconds: 15, answersMax: 1_500)
    // Then nothing piles up: no more waits than comes in two seconds.
    let said = "\(simulation.backlog) at \(arrivals)/s, width \(simulation.limit)"
    #expect(Double(simulation.backlog) <= 2 * arrivals + 20, "\(said)")
    #expect(simulation.runningMax <= 64, "\(said)")
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `after an outage it is back in seconds`(_ seed: UInt64) {
    var simulation = SizingSimulation(.init("fails", serviceSeconds: 0.1), seed: seed)
    let before = simulation.rate(ofNext: 1, after: 2)
    simulation.server.origin.failurePercent = 100
    simulation.run(seconds: 10)
    #expect(simulation.limit <= 2, "seed \(seed)")
    simulation.server.origin.failurePercent = 0
    #expect(simulation.rate(ofNext: 2, after: 3) >= 0.9 * before, "seed \(seed)")
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a storm of refusals is short and forgotten`(_ seed: UInt64) {
    var simulation = SizingSimulation(.init("storm", serviceSeconds: 0.02), seed: seed)
    simulation.run(seconds: 2)
    // When the origin takes two at once for five seconds.
    simulation.server.origin.inFlightMax = 2
    let storm = simulation.seconds
    simulation.run(seconds: 5)
    #expect(simulation.refusedPercent(after: storm) < 25, "seed \(seed)")
    #expect(simulation.rate(after: storm) >= 50, "seed \(seed)")
    // Then it is found wide again.
    simulation.server.origin.inFlightMax = .max
    simulation.run(seconds: 60, answersMax: simulation.answers + 6_000)
    #expect(simulation.limit >= 16, "seed \(seed)")
  }

  @Test func `what fails anyhow does not narrow for ever`() {
    var simulation = SizingSimulation(.init("three in ten fail") { $0.failurePercent = 30 })
    simulation.run(seconds: 60, answersMax: 8_000)
    #expect(simulation.rate(after: simulation.seconds / 2) >= 100)
  }

  /// Quick paths and slow ones: what the quick ones took says nothing of these.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `an origin whose answers take longer from now on is asked as much as before`(_ seed: UInt64) {
    var simulation = SizingSimulation(.init("quick", serviceSeconds: 0.001), seed: seed)
    simulation.run(seconds: 60, answersMax: 30)
    simulation.server.origin.serviceSeconds = 0.1
    let begin = simulation.seconds
    var least = Int.max
    for _ in 0..<100 {
      simulation.run(seconds: 0.1)
      least = min(least, simulation.limit)
    }
    // A quarter less shows already that it is not the width
    #expect(least >= 4 && simulation.limit >= 32, "seed \(seed): \(least)")
    #expect(simulation.rate(after: begin) >= 150, "seed \(seed)")
  }

  /// Its bodies share nothing: that one is slower than others says nothing of a link.
  @Test(
    arguments: [
      .init("all alike") { _ in },
      .init("all unlike") { $0.bodyVariation = 0.35 },
      .init("one in a hundred from a cache") { $0.cachedPercent = 1 },
      .init("every fifth from a cache") { $0.cachedPercent = 20 },
    ] as [SimulatedOrigin])
  func `an origin whose bodies come at their own speed is asked for many at once`(_ origin: SimulatedOrigin) {
    var origin = origin
    (origin.bodyBytes, origin.bodyBytesPerSecond) = (2_000_000, 5e6)
    var simulation = SizingSimulation(origin)
    // When what is remembered as quickest has been forgotten several times.
    let rate = simulation.rate(ofNext: 100, after: 25)
    var widest = SizingSimulation(origin, OriginSizing(.fixed(64)))
    #expect(rate >= 0.85 * widest.rate(ofNext: 20, after: 5), "\(rate)")
  }

  @Test func `a full link of unlike bodies is not flooded as time goes by`() {
    let link = SimulatedOrigin("a full link") {
      ($0.linkBytesPerSecond, $0.bodyBytes, $0.bodyBytesVariation) = (1e7, 1_000_000, 1)
    }
    var simulation = SizingSimulation(link)
    #expect(simulation.rate(ofNext: 60, after: 600) >= 7)
    #expect(simulation.limit <= 12)
  }

  @Test func `an origin whose bodies come more slowly from now on is asked as much as before`() {
    let quick = SimulatedOrigin("quick") { ($0.bodyBytes, $0.bodyBytesPerSecond) = (2_000_000, 5e7) }
    var simulation = SizingSimulation(quick)
    simulation.run(seconds: 10)
    simulation.server.origin.bodyBytesPerSecond = 5e6
    #expect(simulation.rate(ofNext: 15, after: 5) >= 0.9 * 64 / 0.45)
  }

  /// Others are served by it, too: what waits for them does not come sooner where less is asked.
  @Test func `an origin that became slow keeps a part of its width`() {
    var simulation = SizingSimulation(.init("16 workers", serviceSeconds: 0.02) { $0.workers = 16 })
    simulation.run(seconds: 10)
    simulation.server.origin.serviceSeconds = 0.2
    simulation.run(seconds: 10)
    #expect((8...32).contains(simulation.limit))
  }

  @Test func `a crowded origin is not flooded as time goes by`() {
    var simulation = SizingSimulation(Self.cases[2].origin)
    for _ in 0..<4 {
      simulation.run(seconds: 60)
      #expect((8...24).contains(simulation.limit))
    }
  }

  @Test func `an origin that became wider is followed`() {
    var simulation = SizingSimulation(.init("refuses above 10") { $0.inFlightMax = 10 })
    simulation.run(seconds: 20)
    #expect((9...11).contains(simulation.limit))
    simulation.server.origin.inFlightMax = 1_000
    simulation.run(seconds: 60, answersMax: simulation.answers + 8_000)
    #expect(simulation.limit >= 20)
  }
}
