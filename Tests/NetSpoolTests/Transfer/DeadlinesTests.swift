import Testing

@testable import NetSpool

/// Time is passed in, so these take none. Milliseconds throughout.
struct DeadlinesTests {
  /// One look at a transfer.
  struct Look: Sendable {
    var at: Int64
    var isConnected = true
    var hasHead = true
    var bytes: Int64 = 0
    var isPaused = false
    var waitsForReader = false
    var isLive = false
  }

  /// The usual limits but for these.
  private static func limits(
    connect: Double = 10, stall: Double? = 30, total: Double? = 60
  ) -> NetworkRequest.Timeouts {
    var timeouts = NetworkRequest.Timeouts(connect: .seconds(connect))
    (timeouts.stall, timeouts.total) = (stall.map { .seconds($0) }, total.map { .seconds($0) })
    return timeouts
  }

  /// The time of the first look that finds a limit passed, and which; nil when none does.
  private func expiry(_ timeouts: NetworkRequest.Timeouts, _ looks: [Look]) -> String? {
    var deadlines = Deadlines(timeouts, now: 0)
    for look in looks {
      let progress = Deadlines.Progress(
        isConnected: look.isConnected, hasHead: look.hasHead, bytes: look.bytes, isPaused: look.isPaused,
        waitsForReader: look.waitsForReader, isLive: look.isLive)
      if let expiry = deadlines.check(progress, now: look.at * 1000) { return "\(expiry) \(look.at)" }
    }
    return nil
  }

  @Test func `connecting has its own limit, to the microsecond`() {
    let looks = [Look(at: 9_999, isConnected: false), Look(at: 10_000, isConnected: false)]
    #expect(expiry(Self.limits(), looks) == "connect 10000")
  }

  @Test func `the head's limit counts from the connection`() {
    let looks = [
      Look(at: 5_000, isConnected: false), Look(at: 9_000, hasHead: false), Look(at: 38_999, hasHead: false),
      Look(at: 39_000, hasHead: false),
    ]
    #expect(expiry(Self.limits(), looks) == "headers 39000")
  }

  @Test func `a byte now and then keeps a body alive that is read as it comes, and no other`() {
    // A comment of 12 bytes every 29 seconds, for an hour
    func looks(isLive: Bool) -> [Look] {
      (0...3_600).map { Look(at: $0 * 1_000, bytes: $0 / 29 * 12, isLive: isLive) }
    }
    #expect(expiry(Self.limits(total: nil), looks(isLive: true)) == nil)
    #expect(expiry(Self.limits(total: nil), looks(isLive: false)) == "stall 30000")
    let silent = (0...100).map { Look(at: $0 * 1_000, bytes: min($0, 40), isLive: true) }
    #expect(expiry(Self.limits(total: nil), silent) == "stall 70000")
  }

  @Test func `while the request's body goes out, the origin owes no head`() {
    let looks = (1...50).map { Look(at: Int64($0) * 1000, hasHead: false, bytes: Int64(min($0, 20))) }
    #expect(expiry(Self.limits(), looks) == "headers 50000")
  }

  @Test func `a body that stops has stalled; one byte in time does not save it, enough bytes do`() {
    let stopped = (0...40).map { Look(at: Int64($0) * 1000, bytes: 5) }
    #expect(expiry(Self.limits(), stopped) == "stall 30000")
    let dripping = (0...59).map { Look(at: Int64($0) * 1000, bytes: Int64($0)) }
    #expect(expiry(Self.limits(), dripping) == "stall 30000")
    let slow = (0...59).map { Look(at: Int64($0) * 1000, bytes: Int64($0) * 100) }
    #expect(expiry(Self.limits(), slow) == nil)
  }

  @Test func `a burst pays for what is quiet before it, and not after it`() {
    let burst = (0...59).map { Look(at: Int64($0) * 1000, bytes: $0 < 20 ? 0 : 10_000) }
    #expect(expiry(Self.limits(), burst) == "stall 50000")
  }

  @Test func `a short stall limit lets a body through that moves`() {
    let looks = (0...60).map { Look(at: Int64($0) * 50, bytes: Int64($0) * 5_000) }
    #expect(expiry(Self.limits(stall: 0.3), looks) == nil)
    let stops = (0...60).map { Look(at: Int64($0) * 50, bytes: Int64(min($0, 20)) * 5_000) }
    #expect(expiry(Self.limits(stall: 0.3), stops).map { $0.hasPrefix("stall 1") } == true)
  }

  @Test func `without a stall limit a quiet body may last as long as the whole may`() {
    let looks = (0...100).map { Look(at: Int64($0) * 1000) }
    #expect(expiry(Self.limits(stall: nil), looks) == "total 60000")
    #expect(expiry(Self.limits(stall: nil, total: nil), looks) == nil)
  }

  @Test func `the whole counts in every phase, whichever comes first`() {
    #expect(expiry(Self.limits(total: 5), [Look(at: 5_000, isConnected: false)]) == "total 5000")
    #expect(expiry(Self.limits(total: 5), [Look(at: 5_000, hasHead: false)]) == "total 5000")
    #expect(
      expiry(Self.limits(connect: 3, total: 5), [Look(at: 4_000, isConnected: false)]) == "connect 4000")
  }

  @Test func `a stream that takes nothing is not the origin's stall, and the whole counts all the same`() {
    let waits = (0...100).map { Look(at: Int64($0) * 1000, bytes: 5, waitsForReader: $0 < 50) }
    #expect(expiry(Self.limits(stall: 5, total: nil), waits) == "stall 55000")
    #expect(expiry(Self.limits(stall: 5, total: 20), waits) == "total 20000")
  }

  @Test func `a pause of ours counts for nothing`() {
    var looks = (0...10).map { Look(at: Int64($0) * 1000, bytes: Int64($0) * 1000) }
    looks += (11...100).map { Look(at: Int64($0) * 1000, bytes: 10_000, isPaused: true) }
    looks += (101...200).map { Look(at: Int64($0) * 1000, bytes: 10_000 + Int64($0) * 1000) }
    // 90 s of pause on top of 60 s.
    #expect(expiry(Self.limits(), looks) == "total 150000")
  }
}
