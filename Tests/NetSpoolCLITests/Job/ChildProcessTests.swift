import Dispatch
import Glibc
import Synchronization
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What can only be seen from outside a process, or would change it for the other tests.
@Suite(.ownThreads) struct ChildProcessTests {
  /// A million lines in a release build; a debug build takes half a minute for them.
  @Test func `a million lines leave memory flat`() async {
    await #expect(processExitsWith: .success) {
      let repeats = _isDebugAssertConfiguration() ? 10 : 200
      let bench = try JobBench()
      bench.fetcher.keepsHistory = false
      let block = Array((0..<5_000).map { "http://example.org/thumbs/\($0).png\n" }.joined().utf8)
      let list = try OutputFile.create(bench.scratch["million"])
      for _ in 0..<repeats { try list.write(block) }
      try list.flush()
      bench.sources = [.file(bench.scratch["million"])]
      bench.plan.namesOutputs = true
      try bench.writeFiles()
      let before = residentMiB()
      var peak = before
      bench.reactor.duringWait = { _ in peak = max(peak, residentMiB()) }
      let end = try bench.run()
      precondition(end.summary.list.lines == repeats * 5_000 && end.summary.done == 5_000)
      precondition(peak - before < 10 || isSanitized, "grew by \(peak - before) MiB")
    }
  }

  @Test func `a spilled ledger leaves memory flat`() async {
    await #expect(processExitsWith: .success) {
      let ledger = Ledger(directory: "/tmp", framesMax: 64)
      let before = residentMiB()
      for number in 0..<50_000 { try ledger.insert(Fingerprint(.line, String(number))) }
      let grown = residentMiB() - before
      precondition(grown < 3 || isSanitized, "grew by \(grown) MiB")
    }
  }

  @Test func `the second signal asks to quit and the third ends the process`() async {
    await #expect(processExitsWith: .exitCode(143)) {
      let (stop, watcher, pressed) = watchedSwitch()
      for signal in [SIGTERM, SIGINT] {
        pthread_kill(watcher, signal)
        pressed.wait()
      }
      precondition(stop.isQuitting && stop.status == .signal(SIGTERM))
      pthread_kill(watcher, SIGINT)
      DispatchSemaphore(value: 0).wait()
    }
  }

  @Test func `the process that hangs after the second signal ends by itself`() async {
    await #expect(processExitsWith: .exitCode(130)) {
      let (_, watcher, pressed) = watchedSwitch(graceMilliseconds: 1)
      for _ in 0..<2 {
        pthread_kill(watcher, SIGINT)
        pressed.wait()
      }
      DispatchSemaphore(value: 0).wait()
    }
  }

  /// As one that waits for the reader of a FIFO.
  @Test func `the first signal ends a process in which nothing drains`() async {
    await #expect(processExitsWith: .exitCode(143)) {
      let (_, watcher, _) = watchedSwitch(drains: false, graceMilliseconds: 1)
      pthread_kill(watcher, SIGTERM)
      DispatchSemaphore(value: 0).wait()
    }
  }

  @Test func `starting blocks the signals for all later threads`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      SignalWatcher.start(StopSwitch())
      var blocked = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
      exit(unsafe sigismember(&blocked, SIGINT) + sigismember(&blocked, SIGTERM) == 2 ? 0 : 1)
    }
  }

  @Test func `a closed pipe is a local IO error`() async {
    await #expect(processExitsWith: .success) {
      SignalWatcher.start(StopSwitch())
      var ends: [Int32] = [0, 0]
      precondition(unsafe pipe(&ends) == 0)
      close(ends[0])
      let bench = try JobBench(urls: 0..<5)
      bench.results = OutputFile(Descriptor(borrowing: ends[1], named: "a pipe"))
      let end = try bench.run()
      precondition(end.status == .localIO)
      precondition(bench.messages.contains { $0.contains("Broken pipe") })
    }
  }

  @Test func `the real reactor wakes across threads`() async throws {
    let reactor = try PollReactor()
    let wake = reactor.wake
    DispatchQueue.global().async { wake() }
    reactor.wait(input: nil, timeout: nil)
    let before = reactor.now
    reactor.wait(input: nil, timeout: 2_000_000)
    #expect(reactor.now - before >= 1_000_000)
  }
}

private func residentMiB() -> Double { Double(MemoryUse.resident) / 1_048_576 }

/// A switch, and the thread that watches for it. Signals go to that thread alone: the other threads of a
/// test's process were there before it, and do not block them.
private func watchedSwitch(
  drains: Bool = true, graceMilliseconds: Int = 60_000
) -> (StopSwitch, pthread_t, DispatchSemaphore) {
  let (stop, pressed, started) = (StopSwitch(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let watcher = Mutex<pthread_t?>(nil)
  stop.onPress(drains: drains) { pressed.signal() }
  DispatchQueue(label: "watcher").async {
    SignalWatcher.block()
    watcher.withLock { $0 = pthread_self() }
    started.signal()
    SignalWatcher.watch(stop, graceMilliseconds: graceMilliseconds)
  }
  started.wait()
  return (stop, watcher.withLock { $0! }, pressed)
}
