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

  /// Kills a tool as soon as its part has grown, however long that takes.
  private func kill(_ arguments: [String], at part: String) throws {
    let before = FileStatus(path: bench[part])?.size ?? 0
    let tool = try Tool(arguments)
    for _ in 0..<20_000 {
      if FileStatus(path: bench[part])?.size ?? 0 > before + (256 << 10) { break }
      usleep(1_000)
    }
    tool.signal(SIGKILL)
    #expect(tool.wait() == .signal(SIGKILL))
  }

  @Test func `a download that is killed twenty times is whole in the end`() throws {
    let arguments = ["get", "-s", "-C", "-", bench.origin.url("/big"), "-o", bench["big"]]
    for _ in 0..<20 { try kill(arguments, at: "big.netspool-part") }
    #expect(FileStatus(path: bench["big"]) == nil)
    let end = try Tool.run(arguments)
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(DemoFolder.holdsPattern(bench["big"], count: Self.count))
    #expect(bench.origin.requests.count { $0.header("If-Range") == "\"a\"" } >= 19)
    #expect(FileStatus(path: bench["big.netspool-part"]) == nil)
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

  @Test func `somebody else's file in place of a part is named`() throws {
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
    #expect(record.status == 206 && record.bytes == Self.count)
    let sent = bench.origin.requestCount
    let end = try Tool.run(arguments)
    #expect(end.exit == .status(0) && end.errors.contains("1 done before"), "\(end.errors)")
    #expect(bench.origin.requestCount == sent)
  }

  @Test func `a number goes on behind a file as curl does it`() throws {
    try bench.write("tail", ["kept"])
    let end = try Tool.run(["get", "-s", "-C", "25165820", bench.origin.url("/big"), "-o", bench["tail"]])
    #expect(end.exit == .status(0), "\(end.errors)")
    #expect(bench.read("tail")?.count == 9)
    bench.origin.on("/whole", .text("all of it"))
    let whole = try Tool.run(["get", "-C", "5", bench.origin.url("/whole"), "-o", bench["tail"]])
    #expect(whole.exit == .status(74) && bench.read("tail")?.count == 9)
  }
}
