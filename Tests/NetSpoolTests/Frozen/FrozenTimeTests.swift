import Testing

@testable import NetSpool
@testable import TestSupport

/// Clocks that are set, and time that passes while nobody looks.
struct FrozenTimeTests {
  private static let hour = 3_600.0
  private static let day = 24 * hour

  /// Stored, and read by a process whose monotonic clock begins anew.
  private func reopened(_ record: FrozenRecord, at now: ClockMoment, in next: ClockMoment) throws
    -> FrozenRecord
  {
    try #require(FrozenRecord.decoded(record.encode(at: now), at: next))
  }

  // MARK: Expiry

  /// A wall clock that is set ages nothing, and keeps nothing young. The second boot is after a time without a process.
  @Test(arguments: [
    (6.9, 0.0, 1, false), (7.1, 0, 1, true), (0, 3_650, 1, false), (6, -3_650, 1, false),
    (7.1, -3_650, 1, true), (8, 0, 2, true),
  ])
  func `expiry counts the time that has passed`(
    days: Double, clockSetByDays: Double, boot: UInt64, isExpired: Bool
  ) throws {
    let record = FrozenRecord.sample()
    let now = ClockMoment.at(days * Self.day, clockSetBy: clockSetByDays * Self.day, boot: boot)
    if boot == 1 { #expect(record.facts.isExpired(at: now) == isExpired) }
    // Another process says the same
    #expect(try reopened(record, at: .at(0), in: now).facts.isExpired(at: now) == isExpired)
  }

  @Test func `a clock set back makes nothing immortal`() throws {
    // Given a record that grows three days older in each of three boots, and a clock set back in each
    var record = FrozenRecord.sample(at: .at(0, boot: 1))
    for boot: UInt64 in 1...3 {
      let after = ClockMoment.at(3 * Self.day, clockSetBy: -Double(boot + 3) * Self.day, boot: boot)
      record = try reopened(
        record, at: after, in: .at(0, clockSetBy: -Double(boot) * Self.day, boot: boot + 1))
    }
    // Then it is at least nine days old
    #expect(record.facts.isExpired(at: .at(0, clockSetBy: -10 * Self.day, boot: 4)))
  }

  /// Eight days by the clock of the boot, one by the wall clock; 0 is a boot that is not known.
  @Test(arguments: [(2, 2, true), (1, 2, false), (0, 2, false), (2, 0, false), (0, 0, false)])
  func `the clock of a boot counts in no other, nor in one that is not known`(
    written: UInt64, read: UInt64, isExpired: Bool
  ) throws {
    let now = ClockMoment.at(8 * Self.day, clockSetBy: -7 * Self.day, boot: read)
    #expect(try reopened(.sample(), at: .at(0, boot: written), in: now).facts.isExpired(at: now) == isExpired)
  }

  /// As it was written before the moment of writing was noted: only the wall clock tells.
  @Test(arguments: [(6.9, false), (7.1, true)])
  func `a record of an earlier release ages by the wall clock`(days: Double, isExpired: Bool) throws {
    var record = FrozenRecord.sent(at: .at(100))
    record.facts.resume(at: .at(days * Self.day, boot: 2), written: nil)
    let now = ClockMoment.at(days * Self.day, boot: 2)
    #expect(record.facts.isExpired(at: now) == isExpired)
    #expect(record.facts.timeSinceFirstSend(at: now) == Microseconds((days * Self.day - 100) * 1e6))
  }

  // MARK: The window of a key

  /// A clock that is set alone makes no doubt, and the window goes on over a reboot.
  @Test(arguments: [
    (22.9, 0.0, 1, true), (23.1, 0, 1, false), (1, -2, 1, true), (1, 72, 1, true), (1, -0.2, 1, true),
    (22.9, -1, 1, true), (23.1, -1, 1, false), (23.1, -72, 1, false), (22.9, 0, 2, true), (23.1, 0, 2, false),
  ])
  func `a key is trusted for its window`(
    hours: Double, clockSetByHours: Double, boot: UInt64, isSafe: Bool
  ) throws {
    let record = FrozenRecord.sent(at: .at(0))
    let now = ClockMoment.at(hours * Self.hour, clockSetBy: clockSetByHours * Self.hour, boot: boot)
    if boot == 1 { #expect(record.isReplaySafe(at: now, policy: .standard) == isSafe) }
    #expect(try reopened(record, at: .at(0), in: now).isReplaySafe(at: now, policy: .standard) == isSafe)
  }

  @Test func `a long outage outlives the key`() {
    // Given an attempt that may have arrived
    var record = FrozenRecord.sent(at: .at(0))
    record.meet(.failed(.connectionLost, .maybeProcessed), at: .at(1))
    #expect(record.state == .ready)
    // When its turn comes two days later
    let action = record.meet(.launched(epoch: 1), at: .at(2 * Self.day))
    // Then it is not sent again
    #expect(action == .deadLetter(DeadLetterCause(.outcomeUnknown)))
  }

  @Test func `methods that may be repeated have no window`() {
    let record = FrozenRecord.sent(.put, keyed: false, at: .at(0))
    #expect(record.isReplaySafe(at: .at(6 * Self.day), policy: .standard))
  }

  // MARK: Waits

  @Test(arguments: [(10.0, 0.0, 10.0), (10, 60, 0), (10, -400, 300), (-5, 0, 0)])
  func `a wait is pulled back to what it can be`(wait: Double, clockSetBy: Double, left: Double) {
    var record = FrozenRecord.sample()
    record.facts.notBeforeWall = ClockMoment.at(wait).wall
    let now = ClockMoment.at(0, clockSetBy: clockSetBy)
    #expect(record.facts.wait(at: now, policy: .standard) == Microseconds(left * 1_000_000))
  }

  @Test func `a stated wait may be longer`() {
    var record = FrozenRecord.sent()
    record.meet(.answered(status: 503, retryAfter: 3_000), at: .at(0))
    #expect(record.facts.wait(at: .at(0), policy: .standard) == 3_000 * .second)
    #expect(record.facts.wait(at: .at(0, clockSetBy: -9_000), policy: .standard) == 3_600 * .second)
  }

  @Test(arguments: 0..<40 as Range<UInt32>) func `backoff stays in its bounds`(failures: UInt32) {
    var random = SplitMix64(seed: UInt64(failures))
    let span = min(300, Double(1 << min(max(Int(failures) - 1, 0), 20)))
    for _ in 0..<100 {
      let wait = FrozenPolicy.standard.backoff(afterFailures: failures, random: random.unit())
      #expect((0...Microseconds(span * 1_000_000)).contains(wait))
    }
    let most = FrozenPolicy.standard.backoff(afterFailures: failures, random: 1)
    #expect(most == Microseconds(span * 1_000_000))
  }
}
