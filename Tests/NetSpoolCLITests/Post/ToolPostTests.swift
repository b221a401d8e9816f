import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool post` as users run it, without freezing.
@Suite(.ownThreads) struct ToolPostTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/", .text("taken\n"))
  }

  private var sent: RecordedRequest? { bench.origin.requests.last }
  private var body: String? { sent?.text }

  @Test func `a file is sent as it stands`() throws {
    try bench.write("note.txt", ["first"])
    try bench.run("post {u}/ --file note.txt --header Content-Type:text/plain").expect(status: 0)
    #expect(body == "first\n" && sent?.header("Content-Type") == "text/plain")
    try bench.run("post {u}/ --file -", input: "from a pipe").expect(status: 0)
    #expect(body == "from a pipe" && sent?.header("Content-Type") == "application/octet-stream")
  }

  @Test(arguments: ["--file ", "--form k=@"])
  func `a file that is not there is a local error`(words: String) throws {
    let path = bench["nothing"]
    for more in ["", "--freeze --frozen-store \(bench["frozen"])"] {
      let end = try bench.run("post {u}/ \(words)\(path) \(more)").expect(status: 74)
      #expect(end.errors == "netspool: cannot open \(path): No such file or directory\n")
      #expect(end.output.isEmpty && bench.origin.requestCount == 0)
    }
  }

  @Test func `a file that is cut off on its way is a local error`() async throws {
    let path = try bench.write("long", [""])
    try #require(unsafe truncate(path, 256 << 20) == 0)
    let proxy = try FaultProxy(to: bench.origin.port)
    proxy.set(.timeout(nil), on: .upstream)
    try proxy.start()
    let tool = try Tool(["post", "--retry", "0", "--file", path, proxy.url()])
    try #require(await until { proxy.connectionCount == 1 })
    try #require(unsafe truncate(path, 1_000) == 0)
    proxy.clear()
    #expect(tool.wait() == .status(74))
  }

  @Test func `a refusal is one line and status 1`() throws {
    bench.origin.on("/", .text("no such thing", status: 422))
    let end = try bench.run("post {u}/ --json {}").expect(status: 1)
    #expect(end.output == "no such thing")
    #expect(end.errors.contains("422") && end.errors.split(separator: "\n").count == 1)
  }

  @Test func `the curl command sends the same and nothing is sent for it`() throws {
    for more in ["", "--freeze --frozen-store \(bench["frozen"])"] {
      let end = try bench.run("post {u}/ --data a=b --curl \(more)").expect(status: 0)
      #expect(end.output.hasPrefix("curl ") && end.output.contains("a=b"))
    }
    #expect(bench.origin.requestCount == 0)
    #expect(FileFacts(path: bench["frozen"]) == nil)
  }

  @Test func `a key makes a post repeatable`() throws {
    bench.origin.enqueue(.status(503), .text("taken\n"), for: "/")
    try bench.run("post {u}/ --data a=b --idempotency-key k1 --retry 3").expect(status: 0)
    #expect(bench.origin.requests.map { $0.header("Idempotency-Key") } == ["\"k1\"", "\"k1\""])
  }

  @Test(arguments: [
    [], ["http://h/", "--data", "a", "--json", "{}"],
    ["http://h/", "--form", "novalue"], ["http://h/", "--form", "k=@"], ["http://h/", "--form", "=v"],
    ["http://h/", "--method", "A B"], ["http://h/", "--detach"], ["http://h/", "--lane", "l"],
    ["http://h/", "--frozen-store", "d"], ["http://h/", "--freeze", "--method", "GET"],
    ["http://h/", "--freeze", "--limit-rate", "1k"], ["http://h/", "--freeze", "--expires", "soon"],
    ["http://h/", "--freeze", "--lane", ""], ["http://h/", "--idempotency-key", "a\"b"],
    ["http://h/", "--freeze", "--frozen-store", ""],
  ])
  func `wrong command lines are usage errors`(arguments: [String]) throws {
    #expect(try Tool.run(["post"] + arguments).exit == .status(64))
  }
}
