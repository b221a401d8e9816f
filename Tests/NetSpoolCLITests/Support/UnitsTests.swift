import Testing

@testable import NetSpoolCLI

@Suite struct UnitsTests {
  @Test(
    arguments: [
      ("1", 1), ("500", 500), ("10k", 10_240), ("10K", 10_240), ("10kB", 10_240), ("1.5MiB", 1_572_864),
      ("2G", 2_147_483_648), ("1TiB", 1_099_511_627_776), ("7b", 7),
    ] as [(String, Int64)])
  func `reads byte sizes`(text: String, bytes: Int64) { #expect(ByteSize(text)?.bytes == bytes) }

  @Test(arguments: [
    "", "k", "-1", "+1", "0", "1x", "1 k", "1e3", "0x10", ".5k", "1..2", "nan", "inf", "9999999T",
  ])
  func `refuses what is no byte size`(text: String) { #expect(ByteSize(text) == nil) }

  @Test(arguments: [
    ("30", 30), ("30s", 30), ("500ms", 0.5), ("5m", 300), ("1.5h", 5_400), ("2d", 172_800), ("1min", 60),
  ])
  func `reads time spans`(text: String, seconds: Double) { #expect(TimeSpan(text)?.seconds == seconds) }

  @Test(arguments: ["", "0", "0s", "-1s", "s", "31d", "1y", "1h30", "0.0001s"])
  func `refuses what is no time span`(text: String) { #expect(TimeSpan(text) == nil) }

  @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_002_003, "1,002,003"), (-1_234, "-1,234")])
  func `groups digits`(value: Int, text: String) { #expect(HumanText.count(value) == text) }

  @Test(
    arguments: [
      (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (6_815_744, "6.5 MiB"), (1_048_575, "1.0 MiB"),
      (.max, "8.0 EiB"),
    ] as [(Int64, String)])
  func `writes byte sizes`(bytes: Int64, text: String) { #expect(HumanText.bytes(bytes) == text) }

  @Test(arguments: [
    (0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (754, "12:34"), (3_723, "1:02:03"), (-1, "0:00"),
  ])
  func `writes times`(seconds: Double, text: String) { #expect(HumanText.clock(seconds) == text) }

  @Test(arguments: [
    ("5", 5, 5, false), ("5", 6, 6, true), ("0", 1, 1, true), ("5%", 100, 100, true), ("5%", 99, 99, false),
    ("5%", 5, 100, false), ("5%", 6, 100, true), ("0.5%", 5, 1_000, false), ("0.5%", 6, 1_000, true),
  ])
  func `spends an error budget`(text: String, failed: Int, finished: Int, isSpent: Bool) throws {
    #expect(try #require(ErrorBudget(text)).isSpent(failed: failed, finished: finished) == isSpent)
  }

  @Test(arguments: [("5%", 1, 19, true), ("5%", 1, 20, false), ("5%", 0, 0, false), ("5", 5, 5, false)])
  func `a share is judged at the end, however short the list`(
    text: String, failed: Int, finished: Int, isSpent: Bool
  ) throws {
    #expect(
      try #require(ErrorBudget(text)).isSpent(failed: failed, finished: finished, atEnd: true) == isSpent)
  }

  @Test(arguments: ["", "x", "-1", "1.5", "101%", "%", "5 %", "5k"])
  func `refuses what is no error budget`(text: String) { #expect(ErrorBudget(text) == nil) }
}

@Suite struct RateLimiterTests {
  @Test(arguments: [("50", 50), ("50/s", 50), ("30/m", 0.5), ("36/h", 0.01), ("0.5/s", 0.5)])
  func `reads rates`(text: String, perSecond: Double) { #expect(RateLimiter(text)?.perSecond == perSecond) }

  @Test(arguments: ["", "0", "-1", "5/", "/s", "5/y", "5/s/s", "5k/s", "9999999/s"])
  func `refuses what is no rate`(text: String) { #expect(RateLimiter(text) == nil) }

  @Test(arguments: [1.0, 7, 50, 1_000])
  func `never starts more than rate and burst`(perSecond: Double) {
    var limiter = RateLimiter(perSecond: perSecond)
    var (now, starts): (Int64, Int) = (1_000, 0)
    while now < 20_000_001_000 {
      if let wait = limiter.take(now: now) { now += wait } else { starts += 1 }
    }
    let allowed = perSecond * 20 + limiter.burst
    #expect(Double(starts) <= allowed + 1)
    #expect(Double(starts) >= allowed * 0.98 - 1)
  }

  @Test func `saves no more than its burst while idle`() {
    var limiter = RateLimiter(perSecond: 100)
    _ = limiter.take(now: 0)
    var burst = 0
    while limiter.take(now: 3_600_000_000_000) == nil { burst += 1 }
    #expect(burst == 10)
  }

  /// Of two threads the one that has looked at the clock first comes last.
  @Test func `saves nothing twice where a time comes behind a later one`() {
    var limiter = RateLimiter(perSecond: 1_000)
    #expect(limiter.take(upTo: .max, now: 1_000_000_000) > 0)
    #expect(limiter.take(upTo: .max, now: 950_000_000) == 0)
    #expect(limiter.take(upTo: .max, now: 1_000_000_000) == 0)
  }
}
