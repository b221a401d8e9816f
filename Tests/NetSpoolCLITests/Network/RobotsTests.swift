import ArgumentParser
import Dispatch
import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `fetch --robots`.
@Suite(.ownThreads) struct RobotsTests {
  @Test(
    arguments: [
      ("User-agent: *\nDisallow: /a", "/abc", false),
      ("User-agent: *\nDisallow: /a\nAllow: /ab", "/abc", true),
      ("User-agent: *\nDisallow:", "/x", true), ("User-agent: other\nDisallow: /", "/x", true),
      ("User-agent: NetSpool/2\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x", true),
      ("User-agent: netspool\nUser-agent: b\nDisallow: /x\nUser-agent: *\nDisallow: /y", "/y", true),
      ("user-agent:*\r\ndisallow:/*.gif$ # no pictures", "/a/b.gif", false),
      ("User-agent: *\nDisallow: /*.gif$", "/a.gif?x", true), ("User-agent: *\nDisallow: /*?", "/a?b", false),
      ("User-agent: *\nSitemap: x\nDisallow: /caf%C3%A9", "/caf\u{E9}", false),
      ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", true), ("nonsense\n:\n", "/", true),
      ("User-agent: *\nDisallow: /p", "/x/../p/a?b", false),
      ("User-agent: *\nDisallow: /p", "/x/%2e%2E/p", false),
      ("User-agent: *\nDisallow: /p", "/./p", false), ("User-agent: *\nDisallow: /p", "/p/../x?/../p", true),
      ("User-agent: *\nDisallow: /p/$", "/p/x/..", false), ("User-agent: *\nDisallow: /p/$", "/p", true),
      ("\u{FEFF}User-agent: *\nDisallow: /", "/x", false), ("User-agent: *\nDisallow: *", "/", false),
      ("User-agent: *\nDisallow: /a*b*c", "/axxbyyc", false),
    ])
  func `the longest rule that fits decides`(text: String, path: String, isAllowed: Bool) {
    #expect(RobotsRules(Array(text.utf8), agent: "netspool").allows(path) == isAllowed)
  }

  @Test func `what an origin keeps from machines is not fetched, and its file is asked for once`() throws {
    let bench = try ToolBench()
    bench.serve(1..<4)
    bench.origin.on("/robots.txt", .text("User-agent: *\nDisallow: /2\n"))
    bench.origin.on("/noai", Answer.text("x").header("X-Robots-Tag", "noai, noimageai"))
    let line = "--no-cache -o out --results r {u}/1 {u}/2 {u}/3 {u}/noai"
    let end = try bench.fetch("--robots \(line)")
    #expect(end.exit == .status(1) && bench.wrong([1, 3]).isEmpty, "\(end.errors)")
    let records = try bench.results("r")
    let refused = ["/2", "/noai"].map { bench.origin.url($0) }
    #expect(records.filter { $0.end.error == "robots" }.map(\.url).sorted() == refused)
    #expect(bench.read("out/2") == nil && bench.read("out/noai") == nil)
    #expect(bench.origin.hits("/robots.txt") == 1 && bench.origin.hits("/2") == 0)
    try bench.fetch(line).expect(status: 0)
  }

  @Test func `where a redirect leads is asked for first, and gets no secrets of another origin`() throws {
    let (bench, other) = (try ToolBench(), try ScriptedOrigin())
    other.on("/robots.txt", .text("User-agent: *\nDisallow: /closed\n"))
    other.on("/open", .text("open"))
    for path in ["/open", "/closed"] { bench.origin.on(path, .redirect(to: other.url(path))) }
    bench.origin.on("/loop", .redirect(to: "/loop"))
    let words = bench.words("fetch --robots --no-cache -q -o out --results r --retry 0 -H X-Open:1 -b s=1")
    let urls = bench.words("{u}/open {u}/closed {u}/loop")
    let end = try Tool.run(words + ["-H", "Authorization: Bearer t"] + urls, in: bench[""])
    #expect(end.exit == .status(1) && bench.text("out/open") == "open", "\(end.errors)")
    let records = try bench.results("r")
    #expect(Set(records.compactMap(\.end.error)) == ["robots", "tooManyRedirects"], "\(records)")
    #expect(records.first { $0.end.ending == .done }?.end.finalURL == other.url("/open"))
    #expect(other.hits("/closed") == 0 && bench.origin.hits("/loop") == 11)
    let asked = other.requests.filter { $0.path == "/open" }
    #expect(
      asked.map { $0.header("Authorization") } == [nil] && asked.first?.header("Cookie") == nil
        && asked.first?.header("X-Open") == "1")
    #expect(
      bench.origin.requests.allSatisfy { $0.path == "/robots.txt" || $0.header("Authorization") != nil })
  }

  @Test(arguments: [["-H", "Authorization: Bearer t"], ["-u", "me:secret"]])
  func `an origin that a redirect comes back to gets no secrets`(words: [String]) throws {
    let (bench, other) = (try ToolBench(), try ScriptedOrigin())
    bench.origin.on("/away", .redirect(to: other.url("/back")))
    other.on("/back", .redirect(to: bench.origin.url("/home")))
    bench.origin.on("/near", .redirect(to: "/home"))
    bench.origin.on("/home", .text("home"))
    let line = bench.words("fetch --robots --no-cache -q --jobs 1 {u}/near {u}/away")
    try Tool.run(line + words, in: bench[""]).expect(status: 0)
    let asked = bench.origin.requests(for: "/home").map { $0.header("Authorization") != nil }
    #expect(asked.sorted { $0 && !$1 } == [true, false])
    #expect(other.requests.allSatisfy { $0.header("Authorization") == nil })
  }

  @Test(arguments: ["-A MyBot/2", "-H User-Agent:MyBot/2"])
  func `the group is that of the User-Agent which is sent, however it is given`(words: String) throws {
    let bench = try ToolBench()
    bench.serve(1..<3)
    bench.origin.on("/robots.txt", .text("User-agent: *\nDisallow: /2\n\nUser-agent: mybot\nDisallow: /1\n"))
    try bench.fetch("--robots --no-cache -o out {u}/1 {u}/2 \(words)").expect(status: 1)
    #expect(bench.origin.hits("/1") == 0 && bench.wrong([2]).isEmpty)
  }

  @Test(arguments: ["", "--max-filesize 100k"])
  func `of a file that is too long the beginning holds`(words: String) throws {
    let bench = try ToolBench()
    bench.serve(1..<3)
    let rest = String(repeating: "# nothing\n", count: 200_000)
    bench.origin.on("/robots.txt", .text("User-agent: *\nDisallow: /1\n\(rest)Disallow: /2\n"))
    try bench.fetch("--robots --no-cache -o out {u}/1 {u}/2 \(words)").expect(status: 1)
    #expect(bench.origin.hits("/1") == 0 && bench.wrong([2]).isEmpty)
  }

  @Test func `a file that is fresh is asked for by no second run, one that breaks off once more`() throws {
    let bench = try ToolBench()
    bench.serve(1..<2)
    let whole = Answer.text("User-agent: *\nDisallow: /2\n").header("Cache-Control", "max-age=3600")
    bench.origin.enqueue(whole.closeAfter(10), whole, for: "/robots.txt")
    for _ in 0..<2 {
      try bench.fetch("--robots --cache c -o out --retry-delay 10ms {u}/1 {u}/2").expect(status: 1)
    }
    #expect(bench.origin.hits("/robots.txt") == 2 && bench.origin.hits("/2") == 0)
  }

  @Test func `a job that waits for the file alone ends at the first signal, and no line has failed`() throws {
    let bench = try ToolBench()
    bench.serve(1..<3)
    bench.origin.hold("/robots.txt")
    let tool = try bench.start("fetch --robots --no-cache --results r {u}/1 {u}/2")
    #expect(bench.origin.blockForWaiting("/robots.txt", 1))
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130), "\(tool.errors.text)")
    #expect(try bench.results("r").isEmpty && bench.origin.hits("/1") + bench.origin.hits("/2") == 0)
  }

  @Test func `a fetch that is under way follows its redirect after the first signal`() throws {
    let bench = try ToolBench()
    bench.serve(1..<2)
    bench.origin.hold("/a")
    bench.origin.on("/a", .redirect(to: "/1"))
    let fetcher = try EngineFetcher(
      try FetchCommand.parse(bench.words("--robots --no-cache {u}/a")), nil, cache: nil, clock: nil,
      environment: Environment([:]), board: nil, console: Console(isTerminal: false) { _ in })
    defer { _ = fetcher.close() }
    let ends = Inbox<FetchOutcome>()
    fetcher.start(FetchItem(id: 0, url: bench.origin.url("/a"), output: nil)) { ends.put($0) }
    #expect(bench.origin.blockForWaiting("/a", 1))
    // What waits is ended when the loop hears of this, which is before it hears of the redirect.
    fetcher.cancelWaiting()
    bench.origin.releaseAll()
    #expect(ends.next(until: .now() + Tool.patience)?.ending == .done)
  }

  @Test(arguments: [(404, 0, 1), (503, 2, 0)])
  func `a file that is not there forbids nothing, a server in trouble all for now`(
    status: Int, exit: Int32, hits: Int
  ) throws {
    let bench = try ToolBench()
    bench.serve(1..<2)
    bench.origin.on("/robots.txt", .status(status))
    let end = try bench.fetch("--robots --no-cache --retry 0 {u}/1")
    #expect(end.exit == .status(exit) && bench.origin.hits("/1") == hits, "\(end.errors)")
  }
}
