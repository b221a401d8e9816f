import Testing

@testable import NetSpool

@Suite struct OriginSizingTests {
  @Test func `a fixed width stays whatever happens`() {
    var sizing = OriginSizing(.fixed(9))
    sizing.apply(.started, now: 0)
    sizing.apply(.throttled(retryAfter: 60, since: 0), now: 1)
    #expect(sizing.limit(at: 2) == 9)
    #expect(sizing.holdUntil == nil)
  }

  @Test func `the link chooses the width`() {
    var sizing = OriginSizing(.byLink(local: 6, cellular: 2))
    #expect(sizing.limit(at: 0) == 6)
    sizing.link = .cellular
    #expect(sizing.limit(at: 0) == 2)
    sizing.sizing = .fixed(4)
    #expect(sizing.limit(at: 0) == 4)
  }

  @Test func `adaptive starts at six but never above its maximum`() {
    #expect(OriginSizing().limit(at: 0) == 6)
    #expect(OriginSizing(maximum: 3).limit(at: 0) == 3)
    #expect(OriginSizing(maximum: 0).limit(at: 0) == 1)
  }

  @Test func `a lowered maximum applies at once`() {
    var simulation = SizingSimulation(.init("slow", serviceSeconds: 0.2))
    simulation.run(seconds: 5)
    #expect(simulation.limit == 64)
    simulation.sizing.maximum = 10
    #expect(simulation.limit == 10)
  }

  @Test func `without pressure the width does not grow`() {
    var sizing = OriginSizing()
    for request in 0..<1_000 as Range<Int64> {
      sizing.apply(.started, now: request * 1_000)
      sizing.apply(.answered(latency: 0.001, since: request * 1_000), now: request * 1_000 + 400)
      sizing.apply(
        .finished(.init(bytes: 100, seconds: 0, isConnectionNew: false)), now: request * 1_000 + 500)
    }
    #expect(sizing.limit(at: 2_000_000) == 6)
  }

  @Test func `Retry-After holds all new starts until its time`() {
    var sizing = OriginSizing()
    sizing.apply(.started, now: 0)
    sizing.apply(.throttled(retryAfter: 2, since: 0), now: 1_000_000)
    #expect(sizing.holdUntil == 3_000_000)
    #expect(sizing.limit(at: 2_999_999) == 0)
    #expect(sizing.limit(at: 3_000_000) >= 1)
  }

  @Test func `a shorter Retry-After does not shorten the hold and a long one is cut to an hour`() {
    var sizing = OriginSizing()
    for _ in 0..<3 { sizing.apply(.started, now: 0) }
    sizing.apply(.throttled(retryAfter: 5, since: 0), now: 0)
    sizing.apply(.throttled(retryAfter: 1, since: 0), now: 0)
    #expect(sizing.holdUntil == 5_000_000)
    sizing.apply(.throttled(retryAfter: 1e12, since: 0), now: 0)
    #expect(sizing.holdUntil == 3_600_000_000)
  }

  @Test func `an origin that refuses even one is asked once a second`() {
    var sizing = OriginSizing(maximum: 1)
    var waits: [Int64] = []
    var now: Int64 = 0
    for _ in 0..<12 {
      sizing.apply(.started, now: now)
      sizing.apply(.throttled(retryAfter: nil, since: now), now: now)
      waits.append((sizing.holdUntil ?? now) - now)
      now = sizing.holdUntil ?? now
    }
    #expect(waits.prefix(3) == [50_000, 100_000, 200_000])
    #expect(waits.last == 1_000_000)
  }

  @Test func `failures halve the width down to one and it comes back`() {
    var simulation = SizingSimulation(.init("down", serviceSeconds: 0.01) { $0.failurePercent = 100 })
    simulation.run(seconds: 1)
    #expect(simulation.limit == 1)
    simulation.server.origin.failurePercent = 0
    simulation.run(seconds: 1)
    #expect(simulation.limit == 64)
  }

  @Test func `a burst of failures halves once`() {
    // Given sixteen under way, all begun at once.
    var sizing = OriginSizing()
    grow(&sizing, to: 16)
    let width = sizing.limit(at: 0)
    for _ in 0..<width { sizing.apply(.started, now: 10_000_000) }
    // When all of them fail.
    for _ in 0..<width { sizing.apply(.failed(since: 10_000_000), now: 11_000_000) }
    // Then that was one lesson.
    #expect(sizing.limit(at: 11_000_000) == width / 2)
  }

  @Test func `a burst of refusals narrows to what still runs`() {
    var sizing = OriginSizing()
    grow(&sizing, to: 16)
    let width = sizing.limit(at: 0)
    for _ in 0..<width { sizing.apply(.started, now: 10_000_000) }
    for _ in 0..<3 { sizing.apply(.throttled(retryAfter: nil, since: 10_000_000), now: 11_000_000) }
    #expect(sizing.limit(at: 11_000_000) == width - 3)
  }

  @Test func `after a hold it begins gently`() {
    var sizing = OriginSizing()
    grow(&sizing, to: 16)
    for _ in 0..<16 { sizing.apply(.started, now: 10_000_000) }
    sizing.apply(.throttled(retryAfter: 3, since: 10_000_000), now: 10_001_000)
    #expect(sizing.limit(at: 13_000_999) == 0)
    #expect((1...2).contains(sizing.limit(at: 13_001_000)))
  }

  @Test func `the maximum is never passed`() {
    var simulation = SizingSimulation(.init("wide", serviceSeconds: 0.1), OriginSizing(maximum: 9))
    simulation.run(seconds: 10)
    #expect(simulation.runningMax == 9)
  }

  /// Saturated rounds of equal answers.
  private func grow(_ sizing: inout OriginSizing, to width: Int) {
    while sizing.limit(at: 0) < width {
      let count = sizing.limit(at: 0)
      for _ in 0..<count { sizing.apply(.started, now: 0) }
      for _ in 0..<count {
        sizing.apply(.answered(latency: 0.1, since: 0), now: 0)
        sizing.apply(.finished(.init(bytes: 100, seconds: 0, isConnectionNew: false)), now: 0)
      }
    }
  }
}
