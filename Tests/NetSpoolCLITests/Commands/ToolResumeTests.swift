import ArgumentParser
import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `get -C -` and `fetch`, killed and run again.
@Suite(.ownThreads) struct ToolResumeTests {
  private static let count = 24 << 20
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/big") { .resumable(Self.count, etag: "\"a\"", for: $0).throttle(12 << 20) }
  }

  /// Kills a tool as soon as its part has grown, however long that takes, and so many microseconds later.
  private func kill(_ arguments: [String], at part: String, after pause: UInt32 = 0) throws {
    let before = FileFacts(path: bench[part])?.size ?? 0
    let tool = try Tool(arguments)
    for _ in 0..<20_000 {
      if FileFacts(path: bench[part])?.size ?? 0 > before + (256 << 10) { break }
      usleep(1_000)
    }
    usleep(pause)
    tool.signal(SIGKILL)
    #expect(tool.wait() == .signal(SIGKILL))
  }

  @Test func `a download that is killed again and again is whole in the end`() throws {
    let arguments = ["get", "-s", "-C", "-", bench.origin.url("/big"), "-o", bench["big"]]
    for _ in 0..<6 { try kill(arguments, at: "big.netspool-part") }
    #expect(FileFacts(path: bench["big"]) == nil)
    let end = try Tool.run(arguments)
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["big"], count: Self.count))
    #expect(bench.origin.requests.count { $0.header("If-Range") == "\"a\"" } >= 5)
    #expect(FileFacts(path: bench["big.netspool-part"]) == nil)
  }

  /// Breaks the first answer off after 4 of 12 MiB.
  private func breakOff() {
    bench.origin.on("/broken") { request in
      let answer = Answer.resumable(12 << 20, etag: "\"b\"", for: request)
      return request.header("Range") == nil ? answer.resetAfter(4 << 20) : answer
    }
  }

  @Test func `get goes on with a body that breaks off`() throws {
    breakOff()
    let end = try Tool.run(["get", "-s", "-O", bench.origin.url("/broken")], in: bench[""])
    #expect(end.exit == .status(0) && end.errors.isEmpty, "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["broken"], count: 12 << 20))
    #expect(bench.origin.requestCount == 2 && bench.origin.requests.last?.header("If-Range") == "\"b\"")
    #expect(FileFacts(path: bench["broken.netspool-part"]) == nil)
  }

  @Test func `no line of a list writes to the part of another line's file`() throws {
    bench.origin.on("/evil", .pattern(1 << 20))
    let names = ["big", "big.netspool-part", "big.netspool-validator", "BIG.NETSPOOL-PART"]
    let lines = names.map { bench.origin.url($0 == "big" ? "/big" : "/evil") + "\t" + $0 }
    let list = try bench.write("list", lines)
    let end = try Tool.run(["fetch", list, "-o", bench["out"], "--progress", "never", "--no-cache"])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    #expect(DemoFolder.holdsPattern(bench["out/big_netspool-part"], count: 1 << 20))
  }

  @Test func `what get could not finish is the beginning of the next`() throws {
    breakOff()
    let words = ["get", "-sS", "--retry", "0", bench.origin.url("/broken"), "-o", bench["f"]]
    let first = try Tool.run(words)
    #expect(first.exit == .status(1) && FileFacts(path: bench["f"]) == nil, "\(first.errors)")
    #expect(try Tool.run(words).exit == .status(0))
    #expect(DemoFolder.holdsPattern(bench["f"], count: 12 << 20) && bench.origin.requestCount == 2)
  }

  @Test(arguments: [["--no-continue", "-O"], ["-O", "-J"], ["-i", "-o", "broken"]])
  func `what may not go on from a part is begun anew`(words: [String]) throws {
    let asked = Counter()
    bench.origin.on("/broken") { request in
      let answer = Answer.resumable(12 << 20, etag: "\"b\"", for: request)
      return asked.add() == 1 ? answer.resetAfter(4 << 20) : answer
    }
    let end = try Tool.run(["get", "-s"] + words + [bench.origin.url("/broken")], in: bench[""])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(FileFacts(path: bench["broken"])?.size ?? 0 >= 12 << 20)
    #expect(bench.origin.requests.map { $0.header("Range") } == [nil, nil])
    #expect(TestFiles.names(in: bench[""]) == ["broken"])
  }

  @Test func `a body that breaks off again and again is given up after the retries`() throws {
    bench.origin.on("/broken", Answer.pattern(12 << 20).resetAfter(1 << 20))
    let end = try Tool.run(["get", "-sS", "-O", "--retry", "1", bench.origin.url("/broken")], in: bench[""])
    #expect(end.exit == .status(1) && bench.origin.requestCount == 2, "\(end.errors)")
    #expect(TestFiles.names(in: bench[""]).isEmpty)
  }

  @Test func `a file that grows has all the time it takes`() throws {
    let end = try Tool.run([
      "fetch", bench.origin.url("/big"), "-o", bench["out"], "--no-cache", "--timeout", "1s", "--retry", "0",
      "--results", bench["r"], "--progress", "never",
    ])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    #expect(bench.origin.requestCount >= 2 && bench.origin.requests.last?.header("Range") != nil)
    #expect(try bench.results("r").first?.end.attempts == 1)
  }

  @Test(arguments: ["--no-continue", "--continue"])
  func `a file that leaves no part is given up when its time is over`(word: String) throws {
    let tag = word == "--continue" ? "W/\"weak\"" : "\"a\""
    bench.origin.on("/big") { .resumable(Self.count, etag: tag, for: $0).throttle(12 << 20) }
    let end = try Tool.run([
      "fetch", bench.origin.url("/big"), "-o", bench["out"], "--no-cache", "--timeout", "1s", "--retry", "0",
      "--progress", "never", word,
    ])
    #expect(end.exit == .status(2) && bench.origin.requestCount == 1, "\(end.errors)")
  }

  @Test func `get has no limit of the whole unless one is given`() throws {
    #expect(try GetCommand.parse(["http://h/"]).request.timeout == nil)
    let limited = ["get", "-sS", "-m", "1", bench.origin.url("/big"), "-o", bench["big"]]
    let end = try Tool.run(limited + ["--retry", "0"])
    #expect(end.exit == .status(1) && bench.origin.requestCount == 1, "\(end.errors)")
  }

  @Test func `fetch may ask for a part of each`() throws {
    let end = try Tool.run([
      "fetch", "-H", "Range: bytes=0-99", bench.origin.url("/big"), "-o", bench["out"], "--no-cache", "-q",
    ])
    #expect(end.exit == .status(0) && bench.read("out/big")?.count == 100, "\(end.errors)")
  }

  @Test func `a part of a file that has become shorter is begun anew`() throws {
    let arguments = ["fetch", bench.origin.url("/big"), "-o", bench["out"], "--no-cache", "-q"]
    try kill(arguments, at: "out/big.netspool-part")
    bench.origin.on("/big") { $0.header("Range") == nil ? .pattern(9 << 20) : .status(416) }
    let end = try Tool.run(arguments)
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: 9 << 20))
    #expect(bench.origin.requests.last?.header("Range") == nil)
  }

  @Test func `another program's file in place of a part is named`() throws {
    try bench.write("big.netspool-part", ["precious"])
    let end = try Tool.run(["get", "-s", "-S", "-C", "-", bench.origin.url("/big"), "-o", bench["big"]])
    #expect(end.exit == .status(74) && end.errors.contains("big.netspool-part is not of this program"))
    #expect(bench.text("big.netspool-part") == "precious\n")
  }

  @Test func `a job that is killed goes on with its large files`() throws {
    let arguments = ["fetch", bench.origin.url("/big"), "-o", bench["out"], "--no-cache", "-q"]
    for _ in 0..<3 { try kill(arguments, at: "out/big.netspool-part") }
    #expect(try Tool.run(arguments).exit == .status(0))
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    #expect(bench.origin.requests.last?.header("Range") != nil)
  }

  @Test
  func `the results of a file in two parts have its whole length, so that it is not fetched a third time`()
    throws
  {
    let results = ["--results", bench["r"], "--resume"]
    let arguments = ["fetch", bench.origin.url("/big"), "-o", bench["out"], "--no-cache"] + results
    try kill(arguments, at: "out/big.netspool-part")
    #expect(try Tool.run(arguments).exit == .status(0))
    let record = try #require(try bench.results("r").last)
    #expect(record.end.bytes == Self.count && record.end.status == 206, "\(record)")
    #expect(bench.origin.requests.last?.header("Range") != nil)
    let sent = bench.origin.requestCount
    let end = try Tool.run(arguments)
    #expect(end.exit == .status(0) && end.errors.contains("1 done before"), "\(end.errors)")
    #expect(bench.origin.requestCount == sent)
  }

  /// Not only just after the part has grown: anywhere, also before it is there and while its end is compared.
  @Test(.onlyInLongRuns) func `200 MB that are killed at random moments have the right digest`() throws {
    let count = 200_000_000
    bench.origin.on("/long") { .resumable(count, etag: "\"l\"", for: $0).throttle(60 << 20) }
    let arguments = ["get", "-s", "-O", bench.origin.url("/long")]
    var random = SplitMix64(seed: UInt64.random(in: 0 ... .max))
    var kills = 0
    for _ in 0..<20 {
      let tool = try Tool(arguments, in: bench[""])
      usleep(UInt32(random.next() % 400_000))
      tool.signal(SIGKILL)
      if tool.wait() == .signal(SIGKILL) { kills += 1 }
    }
    let end = try Tool.run(arguments, in: bench[""])
    #expect(end.exit == .status(0), "\(end.errors)")
    bench.origin.on("/long", .pattern(count))
    #expect(
      try Tool.run(["-so", bench["whole"], bench.origin.url("/long")], program: CurlComparison.program).exit
        == .status(0))
    let sums = try ChildProcess.run(["sha256sum", bench["long"], bench["whole"]]).output.split(
      separator: 0x0A)
    #expect(sums.count == 2 && sums[0].prefix(64) == sums[1].prefix(64) && kills >= 10)
    let went = bench.origin.requests.count { $0.header("If-Range") != nil }
    print("\(kills) kills, \(bench.origin.requestCount) requests, \(went) of them for a rest")
  }

  @Test func `a number goes on behind a file as curl does it`() throws {
    try bench.write("tail", ["kept"])
    let end = try Tool.run(["get", "-s", "-C", "25165820", bench.origin.url("/big"), "-o", bench["tail"]])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(bench.read("tail")?.count == 9)
    bench.origin.on("/whole", .text("all of it"))
    bench.origin.on("/short", Answer.text("part", status: 206).header("Content-Range", "bytes 5-8/1000"))
    bench.origin.on("/odd", Answer.text("part", status: 206).header("Content-Range", "bytes 5-3/4"))
    bench.origin.on("/less", Answer.text("part", status: 206).header("Content-Range", "bytes 5-9/10"))
    for (path, status) in [("/whole", 74), ("/short", 74), ("/odd", 74), ("/less", 1)] as [(String, Int32)] {
      let end = try Tool.run(["get", "-C", "5", "--retry", "0", bench.origin.url(path), "-o", bench["tail"]])
      #expect(end.exit == .status(status) && bench.read("tail")?.count == 9, "\(path)")
    }
  }

  @Test func `a digest that the list did not have before is asked for`() throws {
    bench.origin.on("/a", .text("hello"))
    func fetch(_ digest: String) throws -> Tool.Exit? {
      let list = try bench.write("list", ["\(bench.origin.url("/a"))\tname\(digest)"])
      return try Tool.run([
        "fetch", list, "-o", bench["out"], "--results", bench["results"], "--resume", "--no-cache",
        "--progress", "never",
      ]).exit
    }
    let digest = "\tsha256=2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    let other = "\tsha256=\(String(repeating: "0", count: 64))"
    #expect(try [digest, digest, other, digest].map { try fetch($0) } == [0, 0, 1, 0].map { .status($0) })
    #expect(bench.origin.requestCount == 2)
  }
}
