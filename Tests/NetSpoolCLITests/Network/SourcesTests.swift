import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Mirrors, and the rate of one host.
@Suite(.ownThreads) struct SourcesTests {
  private let bench: ToolBench
  private let digest = ToolBench.digestOfHello

  init() throws { bench = try ToolBench() }

  @Test func `each place is asked once, and those that may work then once more`() {
    func order(_ mayPass: [String: Bool], _ sources: Sources) -> [String] {
      var (sources, order) = (sources, [sources.url])
      while sources.advance(mayPass: mayPass[sources.url] ?? false) { order.append(sources.url) }
      return order
    }
    let three = Sources("a", mirrors: ["b", "c"])
    #expect(order([:], three) == ["a", "b", "c"])
    #expect(order(["a": true, "c": true], three) == ["a", "b", "c", "a", "c"])
    #expect(order(["a": true], Sources("a")) == ["a"])
    #expect(!three.isLastRound && Sources("a").isLastRound)
    var last = three
    while last.advance(mayPass: true) {}
    #expect(last.isLastRound && last.url == "c")
  }

  @Test func `the next mirror is asked when one fails, for whatever cause`() throws {
    bench.origin.on("/0", .text("hello"))
    bench.origin.on("/503", .status(503))
    bench.origin.on("/other", .text("something else"))
    let refused = "http://127.0.0.1:1/x"
    try bench.write(
      "list",
      [
        "\(refused)\tout=a\tsha256=\(digest)\t{u}/404\t{u}/503\t{u}/other\t{u}/0",
        "{u}/gone\tb\tmirror={u}/404",
      ])
    try bench.fetch("list -o out --results r --failed f --no-cache").expect(status: 1)
    #expect(bench.text("out/a") == "hello")
    let results = try bench.results("r")
    let done = try #require(results.first { $0.end.ending == .done })
    #expect(done.url == refused && done.end.finalURL == bench.origin.url("/0") && done.end.attempts == 5)
    #expect(results.count == 2 && bench.origin.hits("/503") == 1)
    #expect(bench.text("f") == "\(bench.origin.url("/gone"))\tb\tmirror=\(bench.origin.url("/404"))\n")
  }

  @Test(arguments: [true, false])
  func `a digest is looked at also where no file is written`(isCached: Bool) throws {
    bench.origin.on("/0", Answer.text("hello").header("Cache-Control", "max-age=3600"))
    bench.origin.on("/other", Answer.text("something else").header("Cache-Control", "max-age=3600"))
    let (right, wrong) = (bench.origin.url("/0"), bench.origin.url("/other"))
    func fetch(_ line: String) throws -> (status: Tool.Exit?, record: ResultRecord?) {
      try bench.write("list", [line])
      let place = isCached ? "--cache \(bench["cache"])" : "--no-cache"
      return (try bench.fetch("list --results r \(place)").exit, try bench.results("r").first)
    }
    let good = try fetch("\(right)\tsha256=\(digest)")
    #expect(good.status == .status(0) && good.record?.end.sha256 == digest)
    // Twice: what is wrong does not stay in the cache.
    for sent in 1...2 {
      let bad = try fetch("\(wrong)\tsha256=\(digest.uppercased())")
      #expect(bad.status == .status(1) && bad.record?.end.error == "digestMismatch")
      #expect(bad.record?.end.sha256 == nil)
      #expect(bench.origin.hits("/other") == sent)
    }
    let mirrored = try fetch("\(wrong)\tsha256=\(digest)\tmirror=\(right)")
    #expect(mirrored.status == .status(0) && mirrored.record?.end.finalURL == right)
  }

  @Test func `what has the wrong digest for a file is asked for again by the next run`() throws {
    bench.origin.on("/0", Answer.text("something else").header("Cache-Control", "max-age=3600"))
    try bench.write("list", ["{u}/0\tsha256=\(digest)"])
    let line = "list -o out --cache \(bench["cache"])"
    try bench.fetch(line).expect(status: 1)
    bench.origin.on("/0", .text("hello"))
    try bench.fetch(line).expect(status: 0)
    #expect(bench.text("out/0") == "hello")
  }

  @Test func `what failed for now is asked again when all have failed`() throws {
    bench.serve(0..<1)
    bench.origin.enqueue(.status(503), for: "/0")
    try bench.write("list", ["{u}/0\t{u}/404"])
    try bench.fetch("list -o out --no-cache").expect(status: 0)
    #expect(bench.wrong(0..<1).isEmpty && bench.origin.hits("/0") == 2)
  }

  @Test func `a host's fetches are one interval apart, and hosts do not wait for each other`() {
    var rates = HostRates(perSecond: 10, hostsMax: 3)
    #expect((0..<3).map { _ in rates.reserve("a", now: 5) } == [5, 100_000_005, 200_000_005])
    #expect(rates.reserve("b", now: 7) == 7)
    #expect(rates.reserve("a", now: 900_000_000) == 900_000_000)
    #expect(rates.reserve("c", now: 900_000_001) == 900_000_001)
    #expect(rates.reserve("d", now: 900_000_002) == 900_000_002)
    // Full of hosts that may not be asked yet: the next one waits for the first of them.
    #expect(rates.reserve("e", now: 900_000_003) == 1_000_000_000)
  }

  @Test func `what is held starts in the order of its times`() {
    var held = HeldItems()
    for (id, time) in [5, 3, 9, 3, 1].enumerated() {
      held.add(FetchItem(id: id, url: "u", output: nil), at: Int64(time))
    }
    #expect(held.due == 1 && held.count == 5 && held.take(now: 0) == nil)
    var order: [Int] = []
    while let item = held.take(now: 5) { order.append(item.id) }
    #expect(order == [4, 1, 3, 0] && held.due == 9)
  }

  @Test func `a job holds to the rate of each host`() throws {
    let bench = try JobBench((0..<6).map { "http://\($0 % 2 == 0 ? "a" : "b")/\($0)" })
    bench.settings.hostRates = HostRates(perSecond: 2)
    var starts: [String: [Int64]] = [:]
    bench.fetcher.answer = { item in
      starts[URLText.host(item.url), default: []].append(bench.reactor.now)
      return .ok()
    }
    #expect(try bench.run().summary.done == 6)
    #expect(starts == ["a": [0, 500_000_000, 1_000_000_000], "b": [0, 500_000_000, 1_000_000_000]])
  }
}
