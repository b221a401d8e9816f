import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool fetch` as users run it: the built program against an origin.
@Suite(.ownThreads) struct ToolFetchTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  @Test func `cookies of the command line go with every URL of a list`() throws {
    bench.serve(0..<2)
    try bench.writeList(0..<2)
    try bench.fetch("list -o out -q --no-cache -b a=b").expect(status: 0)
    #expect(bench.origin.requests.map { $0.header("Cookie") } == ["a=b", "a=b"])
    try bench.fetch("list -q -b jar").expect(status: 64, saying: "--cookie")
  }

  @Test func `missing ones fail for good`() throws {
    bench.serve(0..<30)
    try bench.writeList(0..<32)
    let end = try bench.fetch("list --output out --failed f --results r --json").expect(status: 1)
    #expect(bench.wrong(0..<30).isEmpty)
    #expect(bench.read("out/30") == nil)
    #expect(
      bench.text("f")?.split(separator: "\n").sorted() == [
        "\(bench.origin.url("/30"))\t30", "\(bench.origin.url("/31"))\t31",
      ])
    let results = try bench.results("r")
    #expect(Set(results.map(\.url)) == Set((0..<32).map { bench.origin.url("/\($0)") }))
    #expect(results.count { $0.end.ending == .done && $0.end.status == 200 } == 30)
    let missing = results.filter { $0.end.ending == .failed(.forGood) && $0.end.status == 404 }
    #expect(missing.map(\.end.error) == ["status", "status"])
    let bytes = (0..<30).reduce(0) { $0 + ToolBench.body($1).count }
    #expect(results.filter { $0.end.ending == .done }.reduce(0) { $0 + $1.end.bytes } == bytes)
    #expect(end.output.contains(#""done":30,"hits":0,"revalidated":0,"failed":2,"failedForGood":2"#))
    #expect(end.output.hasSuffix("\"exitStatus\":1}\n"))
    #expect(end.errors.contains("failed: 2 for good (status 404: 2)"))
  }

  @Test(arguments: ["", "--no-cache"])
  func `only what is newer than its file is fetched`(_ options: String) throws {
    let (old, new) = ("Mon, 02 Jan 2023 03:04:05 GMT", "Tue, 03 Jan 2023 03:04:05 GMT")
    for (path, time) in [("/same", old), ("/changed", new), ("/missing", new)] {
      bench.origin.on(path) { request in
        if request.header("If-Modified-Since") == time { return .status(304) }
        return .text("new \(path)").header("Last-Modified", time).header("Cache-Control", "no-cache")
      }
    }
    #expect(unsafe mkdir(bench["out"], 0o700) == 0)
    for name in ["same", "changed"] {
      try bench.write("out/\(name)", ["old"])
      FileTime.set(bench["out/\(name)"], ["Last-Modified": old])
    }
    for _ in 0..<2 {
      let line = "{u}/same {u}/changed {u}/missing -o out --newer --results r \(options)"
      let end = try bench.fetch(line).expect(status: 0, saying: " as new as before")
      #expect(try bench.results("r").allSatisfy { $0.end.ending == .done })
      #expect(options.isEmpty || !end.errors.contains("from the cache"), "\(end.errors)")
      #expect(bench.text("out/same") == "old\n" && bench.text("out/changed") == "new /changed")
      #expect(bench.text("out/missing") == "new /missing")
    }
    #expect(bench.origin.hits("/changed") == 2 && FileFacts.modified(bench["out/missing"]) == 1_672_715_045)
    for wrong in ["--skip-existing -o out", "--thumbnail 64 -o out", ""] {
      try bench.fetch("http://a/ --newer \(wrong)").expect(status: 64)
    }
  }

  @Test func `refused connections are tried again and counted`() throws {
    bench.origin.stop()
    try bench.fetch("{u}/0 --retry 1 --results r").expect(status: 2)
    let record = try #require(try bench.results("r").first)
    #expect(record.end.error == "connectFailed")
    #expect(record.end.reason == "refused")
    #expect(record.end.attempts == 2)
  }

  @Test func `a folder in the way is a local error of that line`() throws {
    bench.serve(0..<2)
    _ = try OutputFolder(path: bench["out/0"])
    try bench.writeList(0..<2)
    let end = try bench.fetch("list --output out --results r").expect(status: 74)
    #expect(bench.wrong(1..<2).isEmpty)
    let record = try #require(try bench.results("r").first { $0.end.ending != .done })
    #expect(record.end.error == "sinkFailed")
    #expect(record.end.reason == "Is a directory")
    #expect(end.errors.contains("cannot write 0: it is a folder"), "\(end.errors)")
  }

  @Test func `standard input is a list`() throws {
    bench.serve(0..<5)
    let input = (0..<5).map { bench.origin.url("/\($0)") }.joined(separator: "\r\n")
    try bench.fetch("- --output out", input: "# five\n\n" + input).expect(status: 0)
    #expect(bench.wrong(0..<5).isEmpty)
  }

  @Test func `names come from the list and never collide`() throws {
    bench.serve(0..<4)
    try bench.write("list", ["{u}/0\tdeep/er/a.bin", "{u}/1\ta.bin", "{u}/2\ta.bin", "{u}/3\t../../up"])
    try bench.fetch("list --output out").expect(status: 0, saying: "1 renamed because the name was taken")
    #expect(bench.read("out/deep/er/a.bin") == ToolBench.body(0))
    #expect(bench.read("out/a.bin") == ToolBench.body(1))
    #expect(bench.read("out/a-1.bin") == ToolBench.body(2))
    #expect(bench.read("out/_/_/up") == ToolBench.body(3))
  }

  @Test func `repeated lines and equal URLs are asked for once`() throws {
    bench.serve(0..<2)
    for path in ["/0", "/1"] { bench.origin.hold(path) }
    // Once the last has come, so have those before it.
    try bench.write("list", ["{u}/0\ta", "{u}/0\tb", "{u}/0\ta", "{u}/1\tc"])
    let tool = try bench.start("fetch list --output out --jobs 4")
    #expect(bench.origin.blockForWaiting("/0", 1) && bench.origin.blockForWaiting("/1", 1))
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(0))
    #expect(bench.origin.hits("/0") == 1)
    #expect(bench.read("out/a") == ToolBench.body(0))
    #expect(bench.read("out/b") == ToolBench.body(0))
  }

  @Test func `a dry run sends nothing and prints a list that can be used`() throws {
    bench.serve(0..<3)
    try bench.writeList([0, 1, 1, 2])
    let dry = try bench.fetch("list --output out --dry-run").expect(status: 0)
    #expect(bench.origin.requestCount == 0)
    #expect(FileFacts(path: bench["out"]) == nil)
    try bench.fetch("- --output out", input: dry.output).expect(status: 0)
    #expect(bench.wrong(0..<3).isEmpty)
  }

  @Test(arguments: [
    "--output out --results r --resume", "--output out --skip-existing", "--output out/x.tar",
    "--results r --resume", "--output out --names final --results r --resume",
  ])
  func `a dry run leaves out what is done, and changes nothing`(words: String) throws {
    bench.serve(0..<2)
    try bench.writeList(0..<3)
    try bench.fetch("list \(words) --retry 0 --no-cache").expect(status: 1)
    let before = TestFiles.names(in: bench[""]) + TestFiles.names(in: bench["out"])
    let (sent, results) = (bench.origin.requestCount, bench.text("r"))
    let dry = try bench.fetch("list \(words) --dry-run").expect(status: 0, saying: "2 lines are done before")
    #expect(dry.output.hasPrefix(bench.origin.url("/2")) && dry.output.split(separator: "\n").count == 1)
    #expect(bench.origin.requestCount == sent && bench.text("r") == results)
    #expect(TestFiles.names(in: bench[""]) + TestFiles.names(in: bench["out"]) == before)
  }

  @Test func `a dry run needs no permission to write to the folder`() throws {
    bench.serve(0..<1)
    let line = "fetch {u}/0 --output out --skip-existing"
    try bench.run(line).expect(status: 0)
    #expect(unsafe chmod(bench["out"], 0o555) == 0)
    defer { unsafe _ = chmod(bench["out"], 0o755) }
    // The permissions of files say nothing to root.
    let obeys = "setpriv --bounding-set=-dac_override --inh-caps=-dac_override"
    let way = geteuid() == 0 ? bench.words(obeys) : []
    func run(_ line: String) throws -> Tool.End {
      try Tool.run(way + [Tool.path()] + bench.words(line), program: "/usr/bin/env", in: bench[""])
    }
    try run("\(line) --dry-run").expect(status: 0, saying: "1 line is done before")
    try run(line).expect(status: 74)
  }

  @Test func `a second run with resume fetches the rest`() throws {
    bench.serve(0..<20)
    bench.origin.on("/5", .status(500))
    try bench.writeList(0..<20)
    try bench.fetch("list --output out --results r --retry 0").expect(status: 2)
    bench.serve(5..<6)
    let end = try bench.fetch("list --output out --results r --retry 0 --resume").expect(status: 0)
    #expect(end.errors.contains("19 done before"))
    #expect(bench.origin.requestCount == 21)
    #expect(bench.wrong(0..<20).isEmpty)
  }

  @Test func `checksums are those of the files`() throws {
    bench.origin.on("/0", .text("hello"))
    try bench.fetch("{u}/0 --output out --results r --checksum").expect(status: 0)
    #expect(try bench.results("r").first?.end.sha256 == ToolBench.digestOfHello)
  }

  @Test func `headers are sent as told`() throws {
    bench.serve(0..<2)
    _ = try bench.fetch("{u}/0 --header X-One:1 --header X-Two:2")
    _ = try bench.fetch("{u}/1 --user-agent mine/2")
    let requests = bench.origin.requests
    #expect(requests.first?.header("X-One") == "1")
    #expect(requests.first?.header("X-Two") == "2")
    #expect(requests.first?.header("User-Agent") == "netspool/\(NetSpoolTool.version)")
    #expect(requests.last?.header("User-Agent") == "mine/2")
  }

  @Test func `a limited rate still brings every byte`() throws {
    bench.serve(0..<40)
    try bench.writeList(0..<40)
    try bench.fetch("list --output out --limit-rate 200k").expect(status: 0)
    #expect(bench.wrong(0..<40).isEmpty)
  }

  @Test func `jobs are never exceeded`() throws {
    bench.serve(0..<12)
    for number in 0..<12 { bench.origin.hold("/\(number)") }
    try bench.writeList(0..<12)
    let tool = try bench.start("fetch list --jobs 5")
    for number in 0..<5 { #expect(bench.origin.blockForWaiting("/\(number)", 1)) }
    #expect(bench.origin.requestCount == 5)
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(0))
  }

  @Test func `an answer that is no body is a failure`() throws {
    bench.origin.on("/0", .status(304))
    try bench.fetch("{u}/0 --output out").expect(status: 1)
    #expect(bench.read("out/0") == nil)
  }
}
