import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `fetch --output x.tar` as users run it.
@Suite(.ownThreads) struct ToolTarTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  /// The bodies of all members but the JSON ones.
  private func members(_ tars: [String]) throws -> [(name: String, body: [UInt8])] {
    var members: [(String, [UInt8])] = []
    for tar in tars {
      let reader = try TarReader(bench[tar])
      while case .member(let member) = try reader.next() {
        if SampleName.isInfo(member.header.name) { continue }
        members.append((member.header.name, Array(try reader.read(Int(member.header.size), at: member.body))))
      }
      #expect(try reader.next() == .end, "\(tar)")
    }
    return members
  }

  /// Those of the numbers that are not once and byte for byte in the tars.
  private func wrong(_ numbers: Range<Int>, _ tars: [String]) throws -> [Int] {
    let members = Dictionary(grouping: try members(tars)) { $0.name }
    return numbers.filter { members["\($0).bin"]?.map(\.body) != [ToolBench.body($0)] }
  }

  private var tars: [String] {
    get throws {
      try LandingFolder.names(in: bench["out"]).filter { $0.hasSuffix(".tar") }.sorted().map { "out/\($0)" }
    }
  }

  @Test func `bodies go into a tar with what is known of them`() throws {
    bench.serve(0..<30)
    bench.origin.on("/a%20b.jpg", .bytes([1, 2, 3], type: "image/jpeg").header("ETag", "\"e\""))
    bench.origin.on("/empty", .status(200))
    try bench.write("list", (0..<31).map { "{u}/\($0)" } + ["{u}/a%20b.jpg", "{u}/empty"])
    try bench.fetch("list -o out/x.tar --results r --checksum --no-cache").expect(status: 1)
    #expect(try tars == ["out/x.tar"] && wrong(0..<30, ["out/x.tar"]).isEmpty)
    let members = try members(["out/x.tar"])
    #expect(members.count == 32 && members.contains { $0.name == "a b.jpg" && $0.body == [1, 2, 3] })
    #expect(members.contains { $0.name == "empty.bin" && $0.body.isEmpty })
    let text = bench.text("out/x.tar") ?? ""
    #expect(text.contains(#""output":"a b.jpg","tar""#) == false && text.contains(#""etag":"\"e\"""#))
    #expect(text.contains("\"sha256\":\"039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81\""))
    let results = try bench.results("r")
    #expect(results.count { $0.tar == "x.tar" && $0.end.ending == .done } == 32)
    #expect(results.contains { $0.output == "a b.jpg" })
    #expect(try LandingFolder.names(in: bench["out"]) == ["x.tar"])
  }

  @Test func `the same command again fetches what is missing`() throws {
    bench.serve(0..<10)
    try bench.writeList(0..<12)
    let line = "list -o out/x.tar --no-cache"
    try bench.fetch(line).expect(status: 1)
    bench.serve(10..<12)
    try bench.fetch(line).expect(status: 0, saying: "10 done before")
    #expect(try wrong(0..<12, ["out/x.tar"]).isEmpty && bench.origin.requestCount == 14)
    #expect(try bench.fetch(line).exit == .status(0) && bench.origin.requestCount == 14)
    // Another list whose name is taken there.
    bench.origin.on("/other/3", .bytes([3]))
    try bench.fetch("{u}/other/3 -o out/x.tar --no-cache").expect(status: 0)
    #expect(try members(["out/x.tar"]).contains { $0.name == "3-1.bin" && $0.body == [3] })
  }

  @Test(arguments: ["", "--results r --resume"])
  func `an item of a tar is there once, wherever its line stands in a changed list`(more: String) throws {
    for name in ["b", "c", "d"] { bench.origin.on("/\(name)/3", .text(name)) }
    let line = "list -o out/x.tar --no-cache \(more)"
    // The first has no body yet, so that the names of the others have numbers.
    try bench.write("list", ["{u}/a/3", "{u}/b/3", "{u}/c/3"])
    try bench.fetch(line).expect(status: 1)
    bench.origin.on("/a/3", .text("a"))
    try bench.write("list", ["{u}/d/3", "{u}/c/3", "{u}/b/3", "{u}/a/3"])
    try bench.fetch(line).expect(status: 0, saying: "2 done before")
    let bodies = try members(["out/x.tar"]).map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.sorted() == ["a", "b", "c", "d"])
    #expect(bench.origin.hits("/b/3") == 1 && bench.origin.hits("/c/3") == 1)
  }

  @Test func `long names can be taken out of a tar, and are known again`() throws {
    bench.serve(0..<4)
    let long = String(repeating: "ä", count: 127) + "n"
    let names = [long, long, "\(long)/\(long).jpg", "a/\(String(long.dropLast(3))).json"]
    try bench.write("list", names.enumerated().map { "{u}/\($0)\t\($1)" })
    let line = "list -o x.tar --no-cache"
    try bench.fetch(line).expect(status: 0)
    let tar = try Tool.run(["tar", "-xf", "x.tar"], program: "/usr/bin/env", in: bench[""])
    #expect(tar.exit == .status(0), "\(tar.errors)")
    // Of the fourth the body is JSON, too.
    #expect(try Set(members(["x.tar"]).map(\.body)) == Set((0..<3).map(ToolBench.body)))
    try bench.fetch(line).expect(status: 0, saying: "4 done before")
  }

  @Test func `parts have as many items or bytes as they may`() throws {
    bench.serve(0..<25)
    try bench.writeList(0..<25)
    try bench.fetch("list -o out/x.tar --shard-size 10 --no-cache").expect(status: 0)
    #expect(try tars == ["out/x-000000.tar", "out/x-000001.tar", "out/x-000002.tar"])
    #expect(try tars.map { try members([$0]).count } == [10, 10, 5])
    #expect(try wrong(0..<25, tars).isEmpty)
    try bench.fetch("list -o out/y.tar --shard-size 16k --no-cache").expect(status: 0)
    let parts = try tars.filter { $0.contains("/y-") }
    #expect(
      parts.count > 2 && parts.allSatisfy { FileFacts(path: bench[$0])?.size ?? 0 <= (16 << 10) + 1_024 })
    #expect(try wrong(0..<25, parts).isEmpty)
  }

  @Test(.notSanitized(.filesAreTooLong))
  func `a tar that cannot grow ends the job with one sentence, and nothing is lost`() throws {
    bench.serve(0..<60)
    try bench.writeList(0..<60)
    let line = "fetch list -o out/x.tar --no-cache -q --jobs 4"
    let limited = try bench.shell(line, after: "ulimit -f 40;").expect(status: 74)
    #expect(
      limited.errors.split(separator: "\n").count { $0.contains("File too large") } == 1, "\(limited.errors)")
    #expect(limited.errors.contains("x.tar.netspool-part"))
    #expect(FileFacts(path: bench["out/x.tar"]) == nil)
    let before = bench.origin.requestCount
    try bench.run(line).expect(status: 0)
    #expect(try wrong(0..<60, ["out/x.tar"]).isEmpty)
    // What had been put into the tar was not asked for again.
    #expect(bench.origin.requestCount - before < 60)
    #expect(try LandingFolder.names(in: bench["out"]) == ["x.tar"])
  }

  @Test func `a job that is killed again and again has every body once in the end`() throws {
    let count = LongRun.isOn ? 4_000 : 1_000
    bench.serve(0..<count)
    try bench.writeList(0..<count)
    let line = "fetch list -o out/x.tar --shard-size 100 --no-cache -q"
    var random = SplitMix64(seed: LongRun.isOn ? UInt64.random(in: 0 ... .max) : 7)
    // None of them ends before it is killed.
    let last = "/\(count - 1)"
    bench.origin.hold(last)
    for _ in 0..<(LongRun.isOn ? 20 : 8) {
      let before = bench.origin.requestCount
      let tool = try bench.start(line)
      let wanted = before + Int(random.next() % UInt64(count / 20)) + 1
      let deadline = Deadline.generous
      while bench.origin.requestCount < wanted, bench.origin.waitingCount(last) == 0,
        deadline.millisecondsLeft > 0
      { usleep(500) }
      tool.signal(SIGKILL)
      #expect(tool.wait() == .signal(SIGKILL))
      // What has its name is whole.
      #expect(try tars.allSatisfy { try TarStock(bench[$0]).ending == .end })
    }
    bench.origin.releaseAll()
    try bench.run(line).expect(status: 0)
    #expect(try wrong(0..<count, tars).isEmpty && tars.count == (count + 99) / 100)
    #expect(try LandingFolder.names(in: bench["out"]).count == tars.count)
  }

  @Test(arguments: ["", "--shard-size 50"])
  func `what the tar holds has its line in the results, however often the job was killed`(more: String) throws
  {
    let count = 300
    bench.serve(0..<count)
    try bench.writeList(0..<count)
    let line = "fetch list -o out/x.tar --no-cache -q --results r --resume \(more)"
    for _ in 1...4 {
      let wanted = bench.origin.requestCount + 60
      let tool = try bench.start(line)
      for _ in 0..<4_000 where bench.origin.requestCount < wanted { usleep(500) }
      tool.signal(SIGKILL)
      #expect(tool.wait() != nil)
    }
    try bench.run(line).expect(status: 0)
    #expect(try wrong(0..<count, tars).isEmpty)
    let results = try bench.results("r")
    #expect(results.count == count && Set(results.map(\.url)).count == count)
    #expect(results.allSatisfy { $0.end.ending == .done && $0.end.status == 200 })
    #expect(results.allSatisfy { $0.tar?.hasPrefix("x") == true })
    try bench.run(line).expect(status: 0)
    #expect(try bench.results("r").count == count)
  }

  @Test func `an interrupted job leaves its part to the next`() throws {
    bench.serve(0..<40)
    bench.origin.hold("/39")
    try bench.writeList(0..<40)
    let line = "fetch list -o out/x.tar --no-cache -q"
    let tool = try bench.start(line)
    #expect(bench.origin.blockForWaiting("/39", 1))
    for _ in 0..<20_000 where FileFacts(path: bench["out/x.tar.netspool-part"])?.size ?? 0 < 60_000 {
      usleep(500)
    }
    tool.signal(SIGINT)
    #expect(tool.errors.wait(for: "stopping"))
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130))
    #expect(try tars.isEmpty)
    bench.origin.releaseAll()
    try bench.run(line).expect(status: 0)
    #expect(try wrong(0..<40, ["out/x.tar"]).isEmpty)
    #expect(try LandingFolder.names(in: bench["out"]) == ["x.tar"])
  }
}
