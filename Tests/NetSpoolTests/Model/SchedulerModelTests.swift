import Testing

@testable import NetSpool
@testable import TestSupport

/// Random schedules on a model's time. The long run is a program of its own: `Tests/Model/run`.
@Suite(.ownThreads) struct SchedulerModelTests {
  @Test func `ends each operation once and leaks no budget, whatever the schedule`() throws {
    let (folder, fast) = (try TestFolder(), try TestFolder(in: TestFiles.fast))
    let model = try SchedulerModel(cache: folder["cache"], frozen: fast["frozen"])
    let begin = ContinuousClock.now
    var seed: UInt64 = 1
    do throws(SchedulerModel.Fault) {
      repeat {
        for _ in 0..<50 {
          try model.run(seed)
          seed += 1
        }
      } while seed < 200 || ContinuousClock.now - begin < .seconds(LongRun.isOn ? 60 : 2)
    } catch {
      Issue.record(error)
    }
    let happened = model.happened
    #expect(model.close() == 0)
    // Each kind of thing has happened, or the model shows nothing.
    for kind in [
      "completed", "joined", "paused", "blocked", "parked", "redirected", "repeated", "cached", "revalidated",
      "streamed", "frozen", "timedOut", "cancelled", "status", "sinkFailed", "connectionLost",
      "redirectCycle",
    ] { #expect(happened[kind, default: 0] > 0, "\(kind): \(happened)") }
  }
}
