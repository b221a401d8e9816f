import Glibc
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct FetchJobTests {
  @Test func `fetches every line once and skips repeats`() throws {
    let bench = try JobBench(["http://h/1", "http://h/2", "http://h/1", "# no", "http://h/2\tname"])
    let end = try bench.run()
    #expect(bench.startedURLs == ["http://h/1", "http://h/2"])
    #expect(end.status == .allDone)
    #expect(end.summary.list == ListTally(lines: 4, duplicates: 2))
    #expect(end.summary.bytes == 20)
    #expect(!end.isPartial)
  }

  @Test func `a line that asks for something else repeats nothing`() throws {
    let digest = String(repeating: "0", count: 64)
    let more = ["", "\tsha256=\(digest)", "\theader=X: y", "\tpriority=high", "\tsha256=\(digest)"]
    let bench = try JobBench(more.map { "http://h/1" + $0 })
    #expect(try bench.run().summary.list == ListTally(lines: 5, duplicates: 2))
    #expect(bench.startedURLs.count == 3)
  }

  @Test func `an empty list is done`() throws { #expect(try JobBench([]).run().status == .allDone) }

  /// What is not stored would be fetched again by the next run.
  @Test func `nothing starts while the cache is behind`() throws {
    let bench = try JobBench(urls: 0..<10)
    bench.fetcher.isAheadOfCache = true
    var looks = 0
    bench.reactor.duringWait = { _ in
      guard bench.fetcher.isAheadOfCache else { return }
      #expect(bench.fetcher.startCount == 0)
      looks += 1
      bench.fetcher.isAheadOfCache = looks < 3
      bench.fetcher.unstored = 2
    }
    let summary = try bench.run().summary
    #expect(summary.done == 10)
    #expect(summary.text.contains("2 not kept: the disk of the cache did not take them as fast"))
    #expect(looks == 3)
  }

  @Test(
    arguments: [
      ([200, 200], .allDone), ([200, 404], .failedForGood), ([404, 503], .failedForNow),
      ([200, 429], .failedForNow), ([501], .failedForGood),
    ] as [([Int], JobStatus)])
  func `the status tells whether to run again`(answers: [Int], status: JobStatus) throws {
    let bench = try JobBench(urls: 0..<answers.count)
    bench.fetcher.answer = { answers[$0.id] == 200 ? .ok() : .status(answers[$0.id]) }
    #expect(try bench.run().status == status)
  }

  @Test(arguments: [(40.0, JobStatus.tooManyErrors), (50.0, .failedForGood)])
  func `a share of errors counts for a short list at its end`(percent: Double, status: JobStatus) throws {
    let bench = try JobBench(urls: 0..<4)
    bench.settings.budget = .percent(percent)
    bench.fetcher.answer = { $0.id < 2 ? .status(404) : .ok() }
    let end = try bench.run()
    #expect(end.status == status && !end.isPartial && end.summary.done == 2)
    #expect(bench.messages.contains { $0.contains("--max-errors") } == (status == .tooManyErrors))
  }

  @Test func `a broken line fails for good and is named`() throws {
    let bench = try JobBench(["http://h/1", "nonsense", "http://h/2"])
    let end = try bench.run()
    #expect(end.status == .failedForGood)
    #expect(end.summary.done == 2)
    #expect(bench.messages.contains { $0.contains("list.txt:2: ") })
  }

  @Test func `digests that do not fit are one kind of failure`() throws {
    let bench = try JobBench(urls: 0..<50)
    bench.fetcher.answer = { item in
      var outcome = FetchOutcome(.failed(.forGood))
      (outcome.error, outcome.reason) = ("digestMismatch", "file \(item.id) has another")
      return outcome
    }
    #expect(try bench.run().summary.errors == ["digestMismatch": 50])
  }

  @Test func `shows the first failures only`() throws {
    let bench = try JobBench(urls: 0..<500)
    bench.fetcher.answer = { _ in .status(404) }
    let end = try bench.run()
    #expect(bench.messages.count == JobReporter.shownMax + 1)
    #expect(end.summary.errors == ["status 404": 500])
  }
}

@Suite struct FetchJobStoppingTests {
  @Test func `what only waited is not counted as under way`() throws {
    let bench = try JobBench(urls: 0..<100)
    bench.settings.window = 20
    bench.fetcher.isOpen = false
    bench.fetcher.sentMax = 5
    bench.reactor.duringWait = { wait in
      if wait == 1 { bench.stop.press(SIGINT) }
      if wait > 3 { bench.fetcher.release() }
    }
    _ = try bench.run()
    #expect(bench.messages.contains("stopping; waiting for 5 under way (press Ctrl-C again to quit)\n"))
  }

  @Test func `a finished file that is gone, or has another length, is fetched again`() throws {
    let bench = try JobBench(["http://h/a", "http://h/b", "http://h/c"])
    bench.plan.namesOutputs = true
    bench.plan.resumes = true
    bench.plan.bytesOfOutput = { ["a": 5, "c": 4][$0] }
    for name in ["a", "b", "c"] { try bench.ledger.insert(Fingerprint(.done, "http://h/\(name)", name), 5) }
    _ = try bench.run()
    #expect(bench.startedURLs == ["http://h/b", "http://h/c"])
  }

  @Test func `stops when the error budget is spent`() throws {
    let bench = try JobBench(urls: 0..<1_000)
    bench.settings.window = 10
    bench.settings.budget = .count(20)
    bench.fetcher.answer = { _ in .status(404) }
    bench.fetcher.isOpen = false
    bench.reactor.duringWait = { _ in bench.fetcher.release() }
    let end = try bench.run()
    #expect(end.status == .tooManyErrors)
    #expect(end.status.code == 3)
    #expect(end.summary.failed == 30)
  }

  @Test func `broken lines spend the budget too`() throws {
    let bench = try JobBench(Array(repeating: "nonsense", count: 100))
    bench.settings.budget = .count(3)
    let end = try bench.run()
    #expect(end.status == .tooManyErrors)
    #expect(end.summary.list.broken == 4)
  }

  @Test func `a full disk stops the job`() throws {
    let bench = try JobBench(urls: 0..<10_000)
    bench.settings.window = 10
    bench.fetcher.answer = { $0.id == 50 ? .local(ENOSPC) : .ok() }
    let end = try bench.run()
    #expect(end.status == .localIO)
    #expect(end.summary.started < 10_000)
    #expect(end.isPartial)
  }

  @Test func `a list that changes while it is read ends with local IO, and what was read is fetched`() throws
  {
    let bench = try JobBench(urls: 0..<20_000)
    bench.settings.window = 8
    bench.fetcher.isOpen = false
    bench.reactor.duringWait = { wait in
      if wait == 1 { _ = try? bench.scratch.write("list.txt", "http://h/other\n") }
      bench.fetcher.release()
    }
    let end = try bench.run()
    #expect(end.status == .localIO && end.isPartial && end.left == nil)
    #expect(end.summary.done > 1_000 && end.summary.cancelled == 0)
    #expect(bench.startedURLs == (0..<end.summary.done).map { "http://h/\($0)" })
    #expect(bench.messages.count { $0.contains("was changed while it was read") } == 1)
  }

  @Test func `an unwritable results file stops the job but not the other file`() throws {
    let bench = try JobBench(urls: 0..<3_000)
    bench.settings.window = 100
    bench.results = try OutputFile.create("/dev/full")
    bench.failed = try OutputFile.create(bench.scratch["failed.txt"])
    bench.fetcher.answer = { _ in .status(404) }
    let end = try bench.run()
    #expect(end.status == .localIO)
    #expect(end.summary.started < 3_000)
    #expect(try bench.scratch.text("failed.txt").split(separator: "\n").count == end.summary.failed)
    #expect(bench.messages.contains { $0.contains("cannot write /dev/full: No space left on device") })
  }

  @Test func `a list that cannot be read on ends with local IO`() throws {
    let bench = try JobBench()
    bench.sources = [.arguments(["http://h/1"]), .file(bench.scratch.path)]
    let end = try bench.run()
    #expect(end.status == .localIO)
    #expect(end.summary.done == 1)
  }
}

@Suite struct FetchJobTimeTests {
  @Test func `the rate spreads the starts`() throws {
    let bench = try JobBench(urls: 0..<101)
    bench.settings.rate = RateLimiter(perSecond: 10)
    #expect(try bench.run().summary.done == 101)
    #expect(abs(Double(bench.reactor.now) / 1e9 - 10) < 0.2)
  }

  @Test func `results reach the file while the job goes on`() throws {
    let bench = try JobBench(urls: 0..<20)
    bench.settings.rate = RateLimiter(perSecond: 2)
    try bench.writeFiles()
    var seen: [Int] = []
    bench.reactor.duringWait = { _ in
      seen.append((try? bench.scratch.text("results.jsonl").split(separator: "\n").count) ?? -1)
    }
    _ = try bench.run()
    #expect(Set(seen).count > 5, "\(seen)")
  }

  @Test func `a slow pipe does not hold up what is under way`() throws {
    let bench = try JobBench()
    let path = bench.scratch["fifo"]
    #expect(unsafe mkfifo(path, 0o600) == 0)
    var writer: Descriptor? = try Descriptor(opening: path, O_RDWR)
    try writer!.write(Array("http://h/1\n".utf8))
    bench.sources = [.file(path)]
    bench.reactor.duringWait = { wait in
      if wait == 3 { try? writer!.write(Array("http://h/2\n".utf8)) }
      if wait == 6 { writer = nil }
    }
    #expect(try bench.run().summary.done == 2)
    #expect(bench.reactor.waits >= 6)
  }
}
