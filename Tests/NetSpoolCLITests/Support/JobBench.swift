@testable import NetSpoolCLI
@testable import TestSupport

/// A job with everything but the network and the clock real.
final class JobBench {
  let scratch: TestFolder
  let fetcher = GateFetcher()
  let reactor = StepReactor()
  let stop = StopSwitch()
  var messages: [String] = []
  var settings = FetchJob.Settings()
  var plan = FetchPlan.Options()
  var sources: [ListSource] = []
  let ledger: Ledger
  var results: OutputFile?
  var failed: OutputFile?

  init(_ lines: [String] = []) throws {
    scratch = try TestFolder()
    ledger = Ledger(directory: scratch.path)
    let list = try scratch.write("list.txt", lines.map { $0 + "\n" }.joined())
    sources = [.file(list)]
  }

  convenience init(urls: Range<Int>) throws {
    try self.init(urls.map { "http://h/\($0)" })
  }

  func writeFiles() throws {
    results = try OutputFile.create(scratch["results.jsonl"])
    failed = try OutputFile.create(scratch["failed.txt"])
  }

  func run() throws -> FetchJob.End {
    let console = Console(isTerminal: false) { self.messages.append($0) }
    let painter = ProgressPainter(style: .silent, console: console, now: reactor.now)
    let job = FetchJob(
      plan: FetchPlan(list: try ListReader(sources), ledger: ledger, options: plan),
      settings: settings, outputs: FetchJob.Outputs(results: results, failed: failed),
      around: FetchJob.Surroundings(
        fetcher: fetcher, reactor: reactor, stop: stop,
        reporter: JobReporter(console: console, painter: painter, isQuiet: false)))
    // The scripts mostly hold this bench, which holds them: without the cut its folder would stay.
    defer { (reactor.duringWait, fetcher.answer) = ({ _ in }, { _ in .ok() }) }
    return job.run()
  }

  var startedURLs: [String] { fetcher.started.map(\.url) }
}
