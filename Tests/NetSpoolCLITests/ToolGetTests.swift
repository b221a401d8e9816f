import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool get` and `doctor` as users run them.
@Suite(.ownThreads) struct ToolGetTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  @Test func `the body goes to standard output`() throws {
    bench.origin.on("/", .text("hello\n"))
    for output in [[], ["-o", "-"]] {
      let end = try Tool.run(["get", bench.origin.url("/")] + output)
      #expect(end.exit == .status(0))
      #expect(end.output == "hello\n")
      #expect(end.errors.isEmpty)
    }
  }

  @Test func `a large body goes to a file that appears when it is whole`() throws {
    let size = 3 << 20
    bench.origin.on("/", .pattern(size))
    let end = try Tool.run(["get", bench.origin.url("/"), "-o", bench["large"]])
    #expect(end.exit == .status(0))
    #expect(end.output.isEmpty)
    #expect(DemoFolder.holdsPattern(bench["large"], count: size))

    bench.origin.on("/", Answer.pattern(size).resetAfter(1 << 20))
    let broken = try Tool.run(["get", bench.origin.url("/"), "-o", bench["broken"], "--retry", "0"])
    #expect(broken.exit == .status(1))
    #expect(bench.read("broken") == nil)
  }

  @Test func `a device is written to and not replaced`() throws {
    bench.origin.on("/", .text("hello"))
    let end = try Tool.run(["get", bench.origin.url("/"), "-o", "/dev/null"])
    #expect(end.exit == .status(0))
    #expect(FileStatus(path: "/dev/null")?.isPlainFile == false)
  }

  @Test func `a reader that leaves ends it quietly`() throws {
    bench.origin.on("/", .pattern(64 << 20))
    let (read, write) = try makePipe()
    let tool = try Tool(["get", bench.origin.url("/")], output: write)
    close(write)
    var buffer = [UInt8](repeating: 0, count: 1_000)
    let source = Descriptor(borrowing: read, named: "a pipe")
    #expect(try source.read(into: &buffer, at: 0, count: 1_000) > 0)
    close(read)
    #expect(tool.wait() == .status(74))
    #expect(tool.errors.text.isEmpty)
  }

  @Test func `a failure is one line and status 1`() throws {
    bench.origin.on("/gone", .text("no such page", status: 404))
    let end = try Tool.run(["get", bench.origin.url("/gone")])
    #expect(end.exit == .status(1))
    #expect(end.output == "no such page")
    #expect(end.errors.split(separator: "\n").count == 1)
    #expect(end.errors.contains("404"))

    bench.origin.stop()
    let refused = try Tool.run(["get", bench.origin.url("/"), "--retry", "0"])
    #expect(refused.exit == .status(1))
    #expect(refused.errors.contains("refused"))
    #expect(refused.errors.split(separator: "\n").count == 1)
  }

  @Test(arguments: [["ftp://h/"], ["http://h/", "-X", "A B"], ["http://h/", "--header", "none"], []])
  func `wrong command lines are usage errors`(arguments: [String]) throws {
    #expect(try Tool.run(["get"] + arguments).exit == .status(64))
  }

  @Test func `the whole exchange is shown when asked for`() throws {
    bench.origin.on("/", Answer.text("body").header("X-Answer", "yes"))
    let end = try Tool.run(["get", bench.origin.url("/"), "-v", "--header", "Authorization: Bearer secret"])
    #expect(end.output == "body")
    #expect(end.errors.contains("> GET \(bench.origin.url("/"))\n"))
    #expect(end.errors.contains("< HTTP/1.1 200\n"))
    #expect(end.errors.contains("< X-Answer: yes\n"))
    #expect(end.errors.contains("first byte"))
    #expect(!end.errors.contains("secret"))
    #expect(bench.origin.requests.first?.header("Authorization") == "Bearer secret")
  }

  @Test func `the method is sent as told`() throws {
    bench.origin.on("/", .text("body"))
    let end = try Tool.run(["get", bench.origin.url("/"), "-X", "HEAD"])
    #expect(end.exit == .status(0))
    #expect(end.output.isEmpty)
    #expect(bench.origin.requests.first?.method == "HEAD")
  }

  @Test func `the curl command sends the same and nothing is sent for it`() throws {
    bench.origin.on("/", .text("body"))
    let arguments = ["get", bench.origin.url("/?a=b%20c"), "--header", "X-Quote: it's"]
    let end = try Tool.run(arguments + ["--curl"])
    #expect(end.exit == .status(0))
    #expect(bench.origin.requestCount == 0)
    #expect(end.output.hasPrefix("curl "))
    #expect(end.output.contains("'X-Quote: it'\\''s'"))
  }

  @Test func `doctor names every library`() throws {
    let text = try Tool.run(["doctor"])
    #expect(text.exit == .status(0))
    for name in ["libcurl", "tls", "http2", "libuv", "lmdb", "zlib", "open files", "timeout"] {
      #expect(text.output.contains("  \(name)  "), "\(name)")
    }
    let json = try Tool.run(["doctor", "--json"])
    #expect(json.exit == .status(0))
    #expect(json.output.hasPrefix(#"{"versions":{"netspool":"\#(NetSpoolTool.version)","libcurl":""#))
    #expect(json.output.contains(#""timeoutSeconds":300"#))
  }

  @Test(arguments: [
    "--help", "fetch --help", "cache --help", "cache remove --help", "help get", "demo --help",
    "doctor --help", "report merge --help", "post --help", "frozen list --help", "frozen thaw --help",
  ])
  func `every command has help`(words: String) throws {
    let end = try Tool.run(words.split(separator: " ").map(String.init))
    #expect(end.exit == .status(0))
    #expect(end.output.contains("USAGE: netspool"))
  }
}
