import Testing

@testable import TestSupport
@testable import netspool_crash

/// What a power loss leaves of a frozen store.
struct PowerTests {
  @Test func `nothing that was said to be accepted is lost`() throws {
    let states = LongRun.isOn ? "10000" : "200"
    let (end, output) = try CrashProgram.run("power", "--states", states)
    #expect(end == .status(0), "\(output)")
    #expect(output.contains("\(states) states"), "\(output)")
    #expect(output.hasSuffix(": 0 broken\n"), "\(output)")
  }

  /// The checks see it when the disk does not do what it says.
  @Test(arguments: DiskLie.allCases) func `a disk that lies is found out`(lie: DiskLie) throws {
    let (end, output) = try CrashProgram.run("power", "--states", "100", "--lie", lie.rawValue)
    #expect(end == .status(1), "\(output)")
  }
}
