import ArgumentParser
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Fetches with the cache's clock in the test's hand.
@Suite(.ownThreads) struct CacheClockTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private func fetch(_ arguments: [String], hours: Int64) throws -> Summary {
    let arguments = arguments + ["--cache", bench["cache"], "--quiet"]
    var run = FetchRun(
      options: try FetchCommand.parse(arguments), console: Console(isTerminal: false) { _ in },
      environment: Environment(["TMPDIR": bench[""]]), arguments: ["fetch"] + arguments, stop: StopSwitch(),
      reactor: try PollReactor())
    run.cacheClock = { Int64(WallTime.now / .milliseconds(1)) + hours * 3_600_000 }
    var summary = Summary()
    run.onEnd = { summary = $0.summary }
    #expect(run.runOnNetwork() == .allDone)
    return summary
  }

  @Test func `the first run fetches the second hits the third after expiry is confirmed`() throws {
    bench.serveTagged(0..<40, "max-age=3600")
    let list = try bench.writeList(0..<40)
    var asked: [Int] = []
    var summaries: [Summary] = []
    for (run, hours) in [(0, 0), (1, 0), (2, 2), (3, 2)] as [(Int, Int64)] {
      summaries.append(try fetch([list, "--output", bench["out-\(run)"]], hours: hours))
      asked.append(bench.origin.requestCount)
      #expect(bench.wrong(0..<40, in: "out-\(run)").isEmpty)
    }
    #expect(asked == [40, 40, 80, 80])
    #expect(summaries.map(\.hits) == [0, 40, 40, 40])
    #expect(summaries.map(\.revalidated) == [0, 0, 40, 0])
    #expect(bench.origin.requests.dropFirst(40).allSatisfy { $0.header("If-None-Match") != nil })
  }
}
