import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct LinkDamperTests {
  private static let up = LinkState(families: [.ipv4], interface: "eth0")
  private static let other = LinkState(families: [.ipv4, .ipv6], kind: .cellular, interface: "wwan0")
  private static let second: Int64 = 1_000_000

  private var damper = LinkDamper()

  @Test(arguments: [LinkState.unrouted, LinkDamperTests.up])
  mutating func `the first state counts at once`(state: LinkState) {
    damper.observe(state, now: 0)
    #expect(damper.settled == state && damper.deadline == nil)
  }

  @Test mutating func `a loss counts at once and a return when it has held`() {
    damper.observe(Self.up, now: 0)
    damper.observe(.unrouted, now: 10)
    #expect(damper.settled == .unrouted)
    damper.observe(Self.up, now: 20)
    #expect(damper.settled == .unrouted && damper.deadline == 20 + Self.second)
    damper.check(now: 19 + Self.second)
    #expect(damper.settled == .unrouted)
    damper.check(now: 20 + Self.second)
    #expect(damper.settled == Self.up && damper.deadline == nil)
  }

  @Test mutating func `ten minutes of flapping are one change`() {
    damper.observe(Self.up, now: 0)
    var changes = 0
    var before = damper.settled
    for half in 1...1_200 as ClosedRange<Int64> {
      damper.observe(half % 2 == 1 ? .unrouted : Self.up, now: half * 500_000)
      damper.check(now: half * 500_000 + 499_999)
      if damper.settled != before { changes += 1 }
      before = damper.settled
    }
    #expect(changes == 1 && damper.settled == .unrouted)
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  mutating func `what counts is never more than is there`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var (now, upSince): (Int64, Int64?) = (0, nil)
    var latest = LinkState.unrouted
    damper.observe(latest, now: now)
    for _ in 0..<3_000 {
      now += Int64(random.next() % 700_000)
      if random.chance(40) {
        latest = random.chance(50) ? .unrouted : random.chance(50) ? Self.up : Self.other
        upSince = latest.isRouted ? upSince ?? now : nil
        damper.observe(latest, now: now)
      } else {
        damper.check(now: now)
      }
      let settled = damper.settled!
      // It counts only what is there and has been there for a while, and only what is there holds it back.
      #expect(!settled.isRouted || settled == latest, "seed \(seed)")
      if settled.isRouted { #expect(now - upSince! >= LinkDamper.hold, "seed \(seed)") }
      let deadline = latest.isRouted && !settled.isRouted ? upSince! + LinkDamper.hold : nil
      #expect(damper.deadline == deadline, "seed \(seed)")
    }
    // And in the end it counts
    damper.observe(Self.up, now: now)
    damper.check(now: now + LinkDamper.hold)
    #expect(damper.settled == Self.up, "seed \(seed)")
  }
}
