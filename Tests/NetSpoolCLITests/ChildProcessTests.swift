import Dispatch
import Glibc
import Testing

@testable import NetSpoolCLI

/// What can only be seen from outside a process, or would change it for the other tests.
@Suite struct ChildProcessTests {
  @Test func aMillionLinesLeaveMemoryFlat() async {
    await #expect(processExitsWith: .success) {
      let bench = try JobBench()
      bench.fetcher.keepsHistory = false
      let block = Array((0..<20_000).map { "http://example.org/thumbs/\($0).png\n" }.joined().utf8)
      let list = try OutputFile.create(bench.scratch["million"])
      for _ in 0..<50 { try list.write(block) }
      try list.flush()
      bench.sources = [.file(bench.scratch["million"])]
      bench.plan.namesOutputs = true
      try bench.writeFiles()
      let before = try residentMiB()
      var peak = before
      bench.reactor.duringWait = { _ in
        peak = max(peak, (try? residentMiB()) ?? .infinity)
        return true
      }
      let end = try bench.run()
      precondition(end.summary.list.lines == 1_000_000 && end.summary.done == 20_000)
      precondition(peak - before < 10, "grew by \(peak - before) MiB")
    }
  }

  @Test func aSpilledLedgerLeavesMemoryFlat() async {
    await #expect(processExitsWith: .success) {
      let ledger = Ledger(directory: "/tmp", framesMax: 64)
      let before = try residentMiB()
      for number in 0..<100_000 { try ledger.insert(Fingerprint(.line, String(number))) }
      let grown = try residentMiB() - before
      precondition(grown < 3, "grew by \(grown) MiB")
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func theWatcherPressesTheSwitch(signal: Int32) async {
    await #expect(processExitsWith: .exitCode(0)) { [signal] in
      let (stop, pressed) = (StopSwitch(), DispatchSemaphore(value: 0))
      stop.onPress { pressed.signal() }
      SignalWatcher.start(stop)
      kill(getpid(), signal)
      pressed.wait()
      exit(stop.wish == .drain(signal: signal) ? 0 : 1)
    }
  }

  @Test func aThirdSignalEndsAProcessThatHangs() async {
    await #expect(processExitsWith: .exitCode(130)) {
      let (stop, pressed) = (StopSwitch(), DispatchSemaphore(value: 0))
      stop.onPress { pressed.signal() }
      SignalWatcher.start(stop)
      for signal in [SIGINT, SIGTERM] {
        kill(getpid(), signal)
        pressed.wait()
      }
      kill(getpid(), SIGINT)
      DispatchSemaphore(value: 0).wait()
    }
  }

  @Test func aClosedPipeIsALocalIOError() async {
    await #expect(processExitsWith: .success) {
      SignalWatcher.start(StopSwitch())
      var ends: [Int32] = [0, 0]
      precondition(unsafe pipe(&ends) == 0)
      close(ends[0])
      let bench = try JobBench(urls: 0..<5)
      bench.results = ResultsWriter(OutputFile(Descriptor(borrowing: ends[1], named: "a pipe")))
      let end = try bench.run()
      precondition(end.status == .localIO)
      precondition(bench.messages.contains { $0.contains("Broken pipe") })
    }
  }

  @Test func theRealReactorWakesAcrossThreads() async throws {
    let reactor = try PollReactor()
    let wake = reactor.wake
    DispatchQueue.global().async { wake() }
    reactor.wait(input: nil, timeout: nil)
    let before = reactor.now
    reactor.wait(input: nil, timeout: 2_000_000)
    #expect(reactor.now - before >= 1_000_000)
  }
}

private func residentMiB() throws -> Double {
  let statm = LineReader(try Descriptor(opening: "/proc/self/statm", O_RDONLY), lineBytesMax: 1_000)
  guard case .line(let range) = try statm.next() else { return .infinity }
  let fields = String(decoding: statm[range], as: UTF8.self).split(separator: " ")
  return Double(Int(fields[1])! * sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}
