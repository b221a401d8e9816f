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
    let conditional = bench.origin.requests.dropFirst(40)
    #expect(conditional.allSatisfy { $0.header("If-None-Match") != nil })
  }

  @Test func `a changed body replaces the old one`() throws {
    bench.serveFresh(0..<3)
    let list = try bench.writeList(0..<3)
    _ = try fetch([list], hours: 0)
    bench.origin.on("/1", .bytes(ToolBench.body(100)).header("Cache-Control", "max-age=3600"))
    let later = try fetch([list, "--output", bench["out"]], hours: 2)
    #expect(later.hits == 0)
    #expect(bench.read("out/1") == ToolBench.body(100))
    #expect(try fetch([list], hours: 2).hits == 3)
  }

  @Test func `a stale answer stands in for an origin that is down only when it may`() throws {
    bench.origin.on(
      "/0", .bytes(ToolBench.body(0)).header("Cache-Control", "max-age=3600, stale-if-error=86400"))
    let arguments = [bench.origin.url("/0"), "--retry", "0", "--output", bench["out"]]
    _ = try fetch(arguments, hours: 0)
    bench.origin.stop()
    #expect(try fetch(arguments, hours: 2).hits == 1)
    #expect(bench.read("out/0") == ToolBench.body(0))
  }
}
