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

  private func fetch(_ arguments: [String], input: String = "") throws -> Tool.End {
    try Tool.run(["fetch", "--progress", "never"] + arguments, input: input)
  }

  @Test func `cookies of the command line go with every URL of a list`() throws {
    bench.serve(0..<2)
    let list = try bench.writeList(0..<2)
    let end = try Tool.run(["fetch", list, "-o", bench["out"], "-q", "--no-cache", "-b", "a=b"])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(bench.origin.requests.map { $0.header("Cookie") } == ["a=b", "a=b"])
    let refused = try Tool.run(["fetch", list, "-q", "-b", bench["jar"]])
    #expect(refused.exit == .status(64) && refused.errors.contains("--cookie"), "\(refused.errors)")
  }

  @Test func `missing ones fail for good`() throws {
    bench.serve(0..<30)
    let list = try bench.writeList(0..<32)
    let end = try fetch([
      list, "--output", bench["out"], "--failed", bench["f"], "--results", bench["r"], "--json",
    ])
    #expect(end.exit == .status(1))
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

  @Test(arguments: [[], ["--no-cache"]])
  func `only what is newer than its file is fetched`(_ options: [String]) throws {
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
    let arguments =
      ["/same", "/changed", "/missing"].map { bench.origin.url($0) } + ["-o", bench["out"], "--newer"]
    for _ in 0..<2 {
      let end = try fetch(arguments + options + ["--results", bench["r"]])
      #expect(end.exit == .status(0), "\(end.errors)")
      #expect(try bench.results("r").allSatisfy { $0.end.ending == .done })
      #expect(end.errors.contains(" as new as before"), "\(end.errors)")
      #expect(options.isEmpty || !end.errors.contains("from the cache"), "\(end.errors)")
      #expect(bench.text("out/same") == "old\n" && bench.text("out/changed") == "new /changed")
      #expect(bench.text("out/missing") == "new /missing")
    }
    #expect(bench.origin.hits("/changed") == 2 && FileFacts.modified(bench["out/missing"]) == 1_672_715_045)
    for wrong in [["--skip-existing", "-o", bench["out"]], ["--thumbnail", "64", "-o", bench["out"]], []] {
      #expect(try fetch(["http://a/", "--newer"] + wrong).exit == .status(64))
    }
  }

  @Test func `refused connections are tried again and counted`() throws {
    bench.origin.stop()
    #expect(try fetch([bench.origin.url("/0"), "--retry", "1", "--results", bench["r"]]).exit == .status(2))
    let record = try #require(try bench.results("r").first)
    #expect(record.end.error == "connectFailed")
    #expect(record.end.reason == "refused")
    #expect(record.end.attempts == 2)
  }

  @Test func `a folder in the way is a local error of that line`() throws {
    bench.serve(0..<2)
    _ = try OutputFolder(path: bench["out/0"])
    let end = try fetch([try bench.writeList(0..<2), "--output", bench["out"], "--results", bench["r"]])
    #expect(end.exit == .status(74))
    #expect(bench.wrong(1..<2).isEmpty)
    let record = try #require(try bench.results("r").first { $0.end.ending != .done })
    #expect(record.end.error == "sinkFailed")
    #expect(record.end.reason == "Is a directory")
    #expect(end.errors.contains("cannot write 0: it is a folder"), "\(end.errors)")
  }

  @Test func `standard input is a list`() throws {
    bench.serve(0..<5)
    let input = (0..<5).map { bench.origin.url("/\($0)") }.joined(separator: "\r\n")
    #expect(try fetch(["-", "--output", bench["out"]], input: "# five\n\n" + input).exit == .status(0))
    #expect(bench.wrong(0..<5).isEmpty)
  }

  @Test func `names come from the list and never collide`() throws {
    bench.serve(0..<4)
    func url(_ number: Int) -> String { bench.origin.url("/\(number)") }
    let list = try bench.write(
      "list", ["\(url(0))\tdeep/er/a.bin", "\(url(1))\ta.bin", "\(url(2))\ta.bin", "\(url(3))\t../../up"])
    let end = try fetch([list, "--output", bench["out"]])
    #expect(end.exit == .status(0))
    #expect(bench.read("out/deep/er/a.bin") == ToolBench.body(0))
    #expect(bench.read("out/a.bin") == ToolBench.body(1))
    #expect(bench.read("out/a-1.bin") == ToolBench.body(2))
    #expect(bench.read("out/_/_/up") == ToolBench.body(3))
    #expect(end.errors.contains("1 renamed because the name was taken"))
  }

  @Test func `repeated lines and equal URLs are asked for once`() throws {
    bench.serve(0..<1)
    bench.origin.hold("/0")
    let url = bench.origin.url("/0")
    let list = try bench.write("list", ["\(url)\ta", "\(url)\tb", "\(url)\ta"])
    let tool = try Tool(["fetch", list, "--output", bench["out"]])
    #expect(bench.origin.blockForWaiting("/0", 1))
    bench.origin.release("/0")
    #expect(tool.wait() == .status(0))
    #expect(bench.origin.requestCount == 1)
    #expect(bench.read("out/a") == ToolBench.body(0))
    #expect(bench.read("out/b") == ToolBench.body(0))
  }

  @Test func `a dry run sends nothing and prints a list that can be used`() throws {
    bench.serve(0..<3)
    let list = try bench.writeList([0, 1, 1, 2])
    let dry = try fetch([list, "--output", bench["out"], "--dry-run"])
    #expect(dry.exit == .status(0))
    #expect(bench.origin.requestCount == 0)
    #expect(FileFacts(path: bench["out"]) == nil)
    #expect(try fetch(["-", "--output", bench["out"]], input: dry.output).exit == .status(0))
    #expect(bench.wrong(0..<3).isEmpty)
  }

  @Test func `a second run with resume fetches the rest`() throws {
    bench.serve(0..<20)
    bench.origin.on("/5", .status(500))
    let arguments = [
      try bench.writeList(0..<20), "--output", bench["out"], "--results", bench["r"], "--retry", "0",
    ]
    #expect(try fetch(arguments).exit == .status(2))
    bench.serve(5..<6)
    let end = try fetch(arguments + ["--resume"])
    #expect(end.exit == .status(0))
    #expect(end.errors.contains("19 done before"))
    #expect(bench.origin.requestCount == 21)
    #expect(bench.wrong(0..<20).isEmpty)
  }

  @Test func `checksums are those of the files`() throws {
    bench.origin.on("/0", .text("hello"))
    let end = try fetch([
      bench.origin.url("/0"), "--output", bench["out"], "--results", bench["r"], "--checksum",
    ])
    #expect(end.exit == .status(0))
    #expect(
      try bench.results("r").first?.end.sha256
        == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
  }

  @Test func `headers are sent as told`() throws {
    bench.serve(0..<2)
    _ = try fetch([bench.origin.url("/0"), "--header", "X-One: 1", "--header", "X-Two: 2"])
    _ = try fetch([bench.origin.url("/1"), "--user-agent", "mine/2"])
    let requests = bench.origin.requests
    #expect(requests.first?.header("X-One") == "1")
    #expect(requests.first?.header("X-Two") == "2")
    #expect(requests.first?.header("User-Agent") == "netspool/\(NetSpoolTool.version)")
    #expect(requests.last?.header("User-Agent") == "mine/2")
  }

  @Test func `a limited rate still brings every byte`() throws {
    bench.serve(0..<40)
    let end = try fetch([try bench.writeList(0..<40), "--output", bench["out"], "--limit-rate", "200k"])
    #expect(end.exit == .status(0))
    #expect(bench.wrong(0..<40).isEmpty)
  }

  @Test func `jobs are never exceeded`() throws {
    bench.serve(0..<12)
    for number in 0..<12 { bench.origin.hold("/\(number)") }
    let tool = try Tool(["fetch", try bench.writeList(0..<12), "--jobs", "5"])
    for number in 0..<5 { #expect(bench.origin.blockForWaiting("/\(number)", 1)) }
    #expect(bench.origin.requestCount == 5)
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(0))
  }

  @Test func `an answer that is no body is a failure`() throws {
    bench.origin.on("/0", .status(304))
    #expect(try fetch([bench.origin.url("/0"), "--output", bench["out"]]).exit == .status(1))
    #expect(bench.read("out/0") == nil)
  }
}
