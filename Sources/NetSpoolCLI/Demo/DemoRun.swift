import ArgumentParser
import Glibc
import NetSpool
import NetSpoolTesting

final class DemoRun {
  let options: DemoCommand
  let plan: DemoPlan
  let talk: DemoTalk
  let stop: StopSwitch
  let reactor: any Reactor
  let folder: DemoFolder
  let origin: DemoOrigin
  let console: Console
  let environment: Environment
  private(set) var numbers = DemoNumbers()

  init(_ options: DemoCommand, environment: Environment, stop: StopSwitch, reactor: any Reactor) throws {
    (self.options, self.stop, self.reactor) = (options, stop, reactor)
    // A cluster's shard variables are not meant for the demo.
    self.environment = Environment { ["NO_COLOR", "TMPDIR"].contains($0) ? environment[$0] : nil }
    console = .standardError(environment)
    talk = DemoTalk(isQuiet: options.quiet, isColoured: isatty(1) == 1 && environment["NO_COLOR"] == nil)
    plan = DemoPlan(count: options.count)
    origin = try DemoOrigin(plan)
    folder = try DemoFolder(in: Ledger.temporaryDirectory(environment))
  }

  /// Removes its folder in the end, also after a signal.
  func run() throws -> JobStatus {
    defer { folder.remove() }
    talk.note("an origin on 127.0.0.1:\(origin.origin.port) plays the internet; files go to \(folder.path)")
    for part in [fetchAll, fetchFromTheCache, fetchAfterAnHour, fetchThroughAnOutage, postThroughAnOutage] {
      try part()
      if let status = stop.status { return status }
    }
    numbers.print(talk, origin)
    talk.print("")
    guard talk.failures == 0 else {
      talk.print("demo: \(talk.failures) of \(talk.checks) checks FAILED")
      return .failedForGood
    }
    talk.print("demo: all \(talk.checks) checks passed")
    if let failure = talk.outputFailure {
      console.message("netspool: \(failure)")
      return .localIO
    }
    return .allDone
  }

  /// Runs a `fetch` as the command would do it, for the cache so many hours later than now.
  func fetch(_ list: String, _ more: [String] = [], hours: Int64 = 0) throws -> (
    status: JobStatus, summary: Summary
  ) {
    var arguments = [list, "--output", folder["out"], "--cache", folder["cache"]] + more
    if case .fixed(let count) = options.jobs { arguments += ["--jobs", "\(count)"] }
    arguments += ["--progress", options.progress.rawValue]
    if options.quiet { arguments.append("--quiet") }
    var run = FetchRun(
      options: try FetchCommand.parse(arguments), console: console, environment: environment,
      arguments: ["fetch"] + arguments, stop: stop, reactor: reactor)
    run.cacheClock = { Int64(WallTime.now / .milliseconds(1)) + hours * 3_600_000 }
    var summary = Summary()
    run.onEnd = { summary = $0.summary }
    return numbers.measure { (run.runOnNetwork(), summary) }
  }

  private func fetchAll() throws {
    talk.heading(
      "1. \(HumanText.count(plan.count)) thumbnails: some slow, some missing, some cut off, some busy")
    let list = try folder.write("list.txt", plan.list(origin.origin))
    let (status, summary) = try fetch(list, ["--results", folder["r.jsonl"], "--failed", folder["f.txt"]])
    if stop.status != nil { return }
    let missing = plan.missingCount
    talk.check(status == (missing > 0 ? .failedForGood : .allDone), "exit status \(status.code)")
    talk.check(
      summary.failed == missing && summary.failedForGood == missing,
      "only the \(HumanText.count(missing)) missing ones failed, for good; what was cut off or busy was retried"
    )
    checkFiles(plan.files)
    let lines = summary.list.lines
    let saved = lines - origin.requests
    talk.check(
      summary.list.duplicates == (0..<plan.count).count(where: plan.isRepeated),
      "\(HumanText.count(lines)) lines took \(HumanText.count(origin.requests)) requests: "
        + "\(HumanText.count(max(0, saved))) saved on duplicates")
  }

  private func fetchThroughAnOutage() throws {
    let count = plan.moreCount
    talk.heading("4. \(HumanText.count(count)) more, and the origin goes down halfway")
    let list = try folder.write("more.txt", plan.moreList(origin.origin))
    let results = ["--results", folder["more.jsonl"], "--retry", "1"]
    origin.goDown(after: count / 2)
    let (down, first) = try fetch(list, results)
    if stop.status != nil { return }
    talk.check(
      down == .failedForNow && first.failedForNow > 0,
      "exit status \(down.code): \(HumanText.count(first.failedForNow)) failed for now, run again")
    try origin.comeBack()
    talk.note("the origin is back; the same command with --resume:")
    let requests = origin.requests
    let (up, second) = try fetch(list, results + ["--resume"])
    if stop.status != nil { return }
    let asked = origin.requests - requests
    talk.check(up == .allDone, "exit status \(up.code)")
    talk.check(
      second.list.resumed == first.done && asked == first.failed,
      "\(HumanText.count(second.list.resumed)) were done before, only the other \(HumanText.count(asked)) were asked for"
    )
    checkFiles(plan.files + plan.moreFiles)
  }

  func checkFiles(_ files: [(name: String, number: Int)]) {
    let wrong = DemoFolder.countWrong(files, in: folder["out"])
    talk.check(
      wrong == 0,
      "\(HumanText.count(files.count)) files, byte for byte what the origin has"
        + (wrong == 0 ? "" : ": \(HumanText.count(wrong)) are not"))
    let found = DemoFolder.countFiles(in: folder["out"])
    talk.check(found == files.count, "no other file is in the folder")
  }
}
