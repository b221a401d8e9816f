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
    serve()
  }

  private func serve(stallingAfter bytes: Int? = nil) {
    bench.origin.on("/big") { request in
      let answer = Answer.resumable(Self.count, etag: "\"a\"", for: request)
      return bytes.map { answer.stallAfter($0) } ?? answer.throttle(12 << 20)
    }
  }

  private let big = "{u}/big -o out --no-cache"

  /// Kills a tool as soon as its part has grown, however long that takes: it gets no more than a mebibyte.
  private func kill(_ line: String, at part: String) throws {
    let before = FileFacts(path: bench[part])?.size ?? 0
    serve(stallingAfter: 1 << 20)
    defer { serve() }
    let tool = try bench.start(line)
    for _ in 0..<300_000 {
      if FileFacts(path: bench[part])?.size ?? 0 > before + (256 << 10) { break }
      usleep(1_000)
    }
    tool.signal(SIGKILL)
    #expect(tool.wait() == .signal(SIGKILL))
  }

  @Test func `a download that is killed again and again is whole in the end`() throws {
    let line = "get -s -C - {u}/big -o big"
    for _ in 0..<6 { try kill(line, at: "big.netspool-part") }
    #expect(FileFacts(path: bench["big"]) == nil)
    try bench.run(line).expect(status: 0)
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
    let end = try bench.run("get -s -O {u}/broken")
    #expect(end.exit == .status(0) && end.errors.isEmpty, "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["broken"], count: 12 << 20))
    #expect(bench.origin.requestCount == 2 && bench.origin.requests.last?.header("If-Range") == "\"b\"")
    #expect(FileFacts(path: bench["broken.netspool-part"]) == nil)
  }

  @Test func `no line of a list writes to the part of another line's file`() throws {
    bench.origin.on("/evil", .pattern(1 << 20))
    let names = ["big", "big.netspool-part", "big.netspool-validator", "BIG.NETSPOOL-PART"]
    try bench.write("list", names.map { "{u}/\($0 == "big" ? "big" : "evil")\t\($0)" })
    try bench.fetch("list -o out --no-cache").expect(status: 0)
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    #expect(DemoFolder.holdsPattern(bench["out/big_netspool-part"], count: 1 << 20))
  }

  @Test func `what get could not finish is the beginning of the next`() throws {
    breakOff()
    let line = "get -sS --retry 0 {u}/broken -o f"
    let first = try bench.run(line)
    #expect(first.exit == .status(1) && FileFacts(path: bench["f"]) == nil, "\(first.errors)")
    try bench.run(line).expect(status: 0)
    #expect(DemoFolder.holdsPattern(bench["f"], count: 12 << 20) && bench.origin.requestCount == 2)
  }

  @Test(arguments: ["--no-continue -O", "-O -J", "-i -o broken"])
  func `what may not go on from a part is begun anew`(words: String) throws {
    let asked = Counter()
    bench.origin.on("/broken") { request in
      let answer = Answer.resumable(12 << 20, etag: "\"b\"", for: request)
      return asked.add() == 1 ? answer.resetAfter(4 << 20) : answer
    }
    try bench.run("get -s \(words) {u}/broken").expect(status: 0)
    #expect(FileFacts(path: bench["broken"])?.size ?? 0 >= 12 << 20)
    #expect(bench.origin.requests.map { $0.header("Range") } == [nil, nil])
    #expect(TestFiles.names(in: bench[""]) == ["broken"])
  }

  @Test func `a body that breaks off again and again is given up after the retries`() throws {
    bench.origin.on("/broken", Answer.pattern(12 << 20).resetAfter(1 << 20))
    let end = try bench.run("get -sS -O --retry 1 {u}/broken")
    #expect(end.exit == .status(1) && bench.origin.requestCount == 2, "\(end.errors)")
    #expect(TestFiles.names(in: bench[""]).isEmpty)
  }

  /// A pause that is longer than all attempts may take tells that there would be one.
  @Test(arguments: ["-O", "--no-continue -O"])
  func `get asks again for a body that broke off after the pause of other attempts`(words: String) throws {
    bench.origin.on("/broken", Answer.pattern(1 << 20).closeAfter(1 << 10))
    try bench.run("get -sS \(words) --retry-delay 1h --retry-max-time 30m {u}/broken").expect(status: 1)
    #expect(bench.origin.requestCount == 1)
  }

  @Test(arguments: ["get -sS -O", "fetch --no-cache", "fetch --no-cache -o x.tar"])
  func `a signal ends the pause before a body that broke off is asked for again`(words: String) throws {
    bench.origin.on("/broken", Answer.pattern(1 << 20).closeAfter(1 << 10))
    let tool = try bench.start("\(words) --retry-delay 1h {u}/broken")
    #expect(bench.origin.blockForRequests(1) && bench.origin.blockForOpenConnections(0))
    // The pause is seen by nobody; a signal that comes before it ends the job as well.
    usleep(300_000)
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130), "\(tool.errors.text)")
    #expect(bench.origin.requestCount == 1)
  }

  @Test func `a file that grows has all the time it takes`() throws {
    // The first answer stops, and is met by the limit when most of it is there
    bench.origin.on("/big") { request in
      let answer = Answer.resumable(Self.count, etag: "\"a\"", for: request)
      return request.header("Range") == nil ? answer.stallAfter(16 << 20) : answer
    }
    try bench.fetch("\(big) --timeout 4s --retry 0 --results r").expect(status: 0)
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    #expect(bench.origin.requestCount >= 2 && bench.origin.requests.last?.header("Range") != nil)
    #expect(try bench.results("r").first?.end.attempts == 1)
  }

  @Test func `the time for all attempts is not given anew to a file that grows`() throws {
    serve(stallingAfter: 1 << 20)
    let end = try bench.fetch("\(big) --retry-max-time 1s --retry 0")
    #expect(end.exit == .status(2) && bench.origin.requestCount <= 1, "\(end.errors)")
  }

  @Test func `a file that comes no further is given up, as of a server without ranges`() throws {
    bench.origin.on("/big", Answer.pattern(Self.count).header("ETag", "\"a\"").stallAfter(10 << 20))
    let end = try bench.fetch("\(big) --timeout 3s --retry 0")
    #expect(end.exit == .status(2) && bench.origin.requestCount < 20, "\(end.errors)")
  }

  @Test(arguments: ["--no-continue", "--continue"])
  func `a file that leaves no part is given up when its time is over`(word: String) throws {
    let tag = word == "--continue" ? "W/\"weak\"" : "\"a\""
    bench.origin.on("/big") { .resumable(Self.count, etag: tag, for: $0).throttle(12 << 20) }
    let end = try bench.fetch("\(big) --timeout 1s --retry 0 \(word)")
    #expect(end.exit == .status(2) && bench.origin.requestCount <= 1, "\(end.errors)")
  }

  @Test func `get has no limit of the whole unless one is given`() throws {
    #expect(try GetCommand.parse(["http://h/"]).request.timeout == nil)
    let end = try bench.run("get -sS -m 1 {u}/big -o big --retry 0")
    #expect(end.exit == .status(1) && bench.origin.requestCount <= 1, "\(end.errors)")
  }

  @Test func `fetch may ask for a part of each`() throws {
    let end = try bench.fetch("-H Range:bytes=0-99 \(big)")
    #expect(end.exit == .status(0) && bench.read("out/big")?.count == 100, "\(end.errors)")
  }

  @Test func `a part of a file that has become shorter is begun anew`() throws {
    try kill("fetch \(big)", at: "out/big.netspool-part")
    bench.origin.on("/big") { $0.header("Range") == nil ? .pattern(9 << 20) : .status(416) }
    try bench.fetch(big).expect(status: 0)
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: 9 << 20))
    #expect(bench.origin.requests.last?.header("Range") == nil)
  }

  @Test func `another program's file in place of a part is named`() throws {
    try bench.write("big.netspool-part", ["precious"])
    let end = try bench.run("get -s -S -C - {u}/big -o big")
    #expect(end.exit == .status(74) && end.errors.contains("big.netspool-part is not of this program"))
    #expect(bench.text("big.netspool-part") == "precious\n")
  }

  @Test
  func `the results of a file in two parts have its whole length, so that it is not fetched a third time`()
    throws
  {
    let (plain, line) = ("fetch \(big)", "fetch \(big) --results r --resume")
    for line in [plain, plain, line] { try kill(line, at: "out/big.netspool-part") }
    try bench.run(line).expect(status: 0)
    #expect(DemoFolder.holdsPattern(bench["out/big"], count: Self.count))
    let record = try #require(try bench.results("r").last)
    #expect(record.end.bytes == Self.count && record.end.status == 206, "\(record)")
    #expect(bench.origin.requests.last?.header("Range") != nil)
    let sent = bench.origin.requestCount
    try bench.run(line).expect(status: 0, saying: "1 done before")
    #expect(bench.origin.requestCount == sent)
  }

  /// Not only just after the part has grown: anywhere, also before it is there and while its end is compared.
  @Test(.onlyInLongRuns) func `200 MB that are killed at random moments have the right digest`() throws {
    let count = 200_000_000
    bench.origin.on("/long") { .resumable(count, etag: "\"l\"", for: $0).throttle(60 << 20) }
    let line = "get -s -O {u}/long"
    var random = SplitMix64(seed: UInt64.random(in: 0 ... .max))
    var kills = 0
    for _ in 0..<20 {
      let tool = try bench.start(line)
      usleep(UInt32(random.next() % 400_000))
      tool.signal(SIGKILL)
      if tool.wait() == .signal(SIGKILL) { kills += 1 }
    }
    try bench.run(line).expect(status: 0)
    bench.origin.on("/long", .pattern(count))
    try Tool.run(["-so", bench["whole"], bench.origin.url("/long")], program: CurlComparison.program)
      .expect(status: 0)
    let sums = try ChildProcess.run(["sha256sum", bench["long"], bench["whole"]]).output.split(
      separator: 0x0A)
    #expect(sums.count == 2 && sums[0].prefix(64) == sums[1].prefix(64) && kills >= 10)
    let went = bench.origin.requests.count { $0.header("If-Range") != nil }
    print("\(kills) kills, \(bench.origin.requestCount) requests, \(went) of them for a rest")
  }

  @Test func `a number goes on behind a file as curl does it`() throws {
    try bench.write("tail", ["kept"])
    try bench.run("get -s -C 25165820 {u}/big -o tail").expect(status: 0)
    #expect(bench.read("tail")?.count == 9)
    bench.origin.on("/whole", .text("all of it"))
    bench.origin.on("/short", Answer.text("part", status: 206).header("Content-Range", "bytes 5-8/1000"))
    bench.origin.on("/odd", Answer.text("part", status: 206).header("Content-Range", "bytes 5-3/4"))
    bench.origin.on("/less", Answer.text("part", status: 206).header("Content-Range", "bytes 5-9/10"))
    for (path, status) in [("/whole", 74), ("/short", 74), ("/odd", 74), ("/less", 1)] as [(String, Int32)] {
      let end = try bench.run("get -C 5 --retry 0 {u}\(path) -o tail")
      #expect(end.exit == .status(status) && bench.read("tail")?.count == 9, "\(path)")
    }
  }

  @Test func `a digest that the list did not have before is asked for`() throws {
    bench.origin.on("/a", .text("hello"))
    func run(_ digest: String) throws -> Tool.Exit? {
      try bench.write("list", ["{u}/a\tname\(digest)"])
      return try bench.fetch("list -o out --results r --resume --no-cache").exit
    }
    let digest = "\tsha256=\(ToolBench.digestOfHello)"
    let other = "\tsha256=\(String(repeating: "0", count: 64))"
    #expect(try [digest, digest, other, digest].map { try run($0) } == [0, 0, 1, 0].map { .status($0) })
    #expect(bench.origin.requestCount == 2)
  }
}
