import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What a Ctrl-C does to a running `netspool fetch`.
@Suite(.ownThreads) struct ToolSignalTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  /// Starts a fetch of so many numbers.
  private func start(_ numbers: Range<Int>, _ more: String = "") throws -> Tool {
    let list = try bench.writeList(numbers)
    let places = "--output \(bench["out"]) --results \(bench["r"])"
    return try bench.start("fetch \(list) \(places) --jobs 4 --progress never \(more)")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func `the first signal drains and the command it prints completes`(signal: Int32, status: Int32) throws {
    bench.serve(0..<60)
    for number in 20..<24 { bench.origin.hold("/\(number)") }
    let tool = try start(0..<60)
    for number in 20..<24 { #expect(bench.origin.blockForWaiting("/\(number)", 1)) }

    tool.signal(signal)
    #expect(tool.errors.wait(for: "waiting for"))
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(status))
    #expect(bench.wrong(0..<24).isEmpty)
    // A loop that was at work when the signal came may fill the slots once more.
    let sent = bench.origin.requestCount
    #expect((24...28).contains(sent))

    try tool.runCommand(after: "\nto go on: ").expect(status: 0, saying: "\(sent) done before")
    #expect(bench.wrong(0..<60).isEmpty)
    #expect((0..<60).allSatisfy { bench.origin.hits("/\($0)") == 1 })
  }

  @Test func `without a results file, too, the command it prints fetches nothing again`() throws {
    bench.serve(0..<30)
    for number in 10..<14 { bench.origin.hold("/\(number)") }
    let list = try bench.writeList(0..<30)
    let tool = try bench.start("fetch \(list) -o \(bench["out"]) --jobs 4 --no-cache")
    for number in 10..<14 { #expect(bench.origin.blockForWaiting("/\(number)", 1)) }
    tool.signal(SIGINT)
    // Those that only wait are still counted where the loop has not heard of it.
    #expect(tool.errors.wait(for: " under way"))
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(130))
    try tool.runCommand(after: "\nto go on: ").expect(status: 0)
    #expect(bench.wrong(0..<30).isEmpty)
    #expect((0..<30).allSatisfy { bench.origin.hits("/\($0)") == 1 })
  }

  @Test func `a job that nohup started does not end with its terminal`() throws {
    bench.serve(0..<1)
    bench.origin.hold("/0")
    let words = ["fetch", try bench.writeList(0..<1), "-o", bench["out"], "-q"]
    let tool = try Tool(["-c", "trap '' HUP; exec \"$@\"", "sh", Tool.path()] + words, program: "/bin/sh")
    #expect(bench.origin.blockForWaiting("/0", 1))
    tool.signal(SIGHUP)
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(0), "\(tool.errors.text)")
  }

  @Test func `the second signal quits and leaves no half file`() throws {
    let half = BodyPattern.bytes(2 << 20)
    bench.origin.on("/0", Answer.bytes(half).stallAfter(1 << 20))
    let tool = try start(0..<1)
    #expect(bench.origin.blockForRequests(1))
    tool.signal(SIGINT)
    #expect(tool.errors.wait(for: "press Ctrl-C again"))
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130))
    #expect(DemoFolder.countFiles(in: bench["out"]) == 0)
  }

  @Test func `draining does not wait for an attempt that is an hour away`() throws {
    bench.origin.on("/0", Answer.status(503).header("Retry-After", "3600"))
    let tool = try start(0..<1, "--timeout 2h")
    #expect(bench.origin.blockForRequests(1))
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130))
  }

  @Test func `an attempt that fails while draining is the last`() throws {
    bench.origin.hold("/0")
    bench.origin.on("/0", Answer.status(503).header("Retry-After", "3600"))
    let tool = try start(0..<1, "--timeout 2h")
    #expect(bench.origin.blockForWaiting("/0", 1))
    tool.signal(SIGINT)
    #expect(tool.errors.wait(for: "waiting for 1 under way"))
    bench.origin.releaseAll()
    #expect(tool.wait() == .status(130))
    #expect(bench.origin.requestCount == 1)
  }
}
