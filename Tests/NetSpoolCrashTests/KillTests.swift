import Testing

@testable import TestSupport
@testable import netspool_crash

/// Programs that freeze requests, killed. Serial, because each of them wants to be killed at moments of its own.
@Suite(.serialized) struct KillTests {
  private func play(_ command: String, _ option: String, _ count: Int) throws {
    let (end, output) = try CrashProgram.run(command, option, "\(count)")
    #expect(end == .status(0), "\(output)")
    #expect(output.contains(": lost 0, second keys 0, wrong bytes 0, "), "\(output)")
  }

  @Test func `nothing is lost when a process is killed at any moment`() throws {
    try play("kill", "--cycles", LongRun.isOn ? 1_000 : 20)
  }

  @Test func `nothing is lost when a process is killed at a known place`() throws {
    try play("points", "--rounds", LongRun.isOn ? 50 : 1)
  }
}
