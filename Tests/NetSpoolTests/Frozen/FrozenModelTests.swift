import Testing

@testable import NetSpool
@testable import TestSupport

/// Random lives of many requests, with restarts and crashes in between, against a model: nothing accepted is lost,
/// nothing ends twice, nothing is sent that must not be, and the tables agree with each other at every look.
struct FrozenModelTests {
  private static let steps = LongRun.isOn ? 10_000 : 800

  @Test(arguments: 0..<(LongRun.isOn ? 10 : 2) as Range<UInt64>) func `nothing is lost`(seed: UInt64) throws {
    let bench = try SpoolBench(seed: seed)
    for step in 0..<Self.steps {
      try bench.step()
      if step % 50 == 0 { try bench.check() }
      if step % 190 == 189 { try bench.crash() }
    }
    try bench.check()
    try bench.drain()
    #expect(bench.sends > Self.steps / 20)
    #expect(bench.crashes > 0)
  }
}
