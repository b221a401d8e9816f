import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool get` and `doctor` as users run them.
@Suite(.ownThreads) struct ToolGetTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  @Test func `a large body goes to a file that appears when it is whole`() throws {
    let size = 3 << 20
    bench.origin.on("/", .pattern(size))
    let end = try bench.run("get {u}/ -o large").expect(status: 0)
    #expect(end.output.isEmpty)
    #expect(DemoFolder.holdsPattern(bench["large"], count: size))

    bench.origin.on("/", Answer.pattern(size).resetAfter(1 << 20))
    try bench.run("get {u}/ -o broken --retry 0").expect(status: 1)
    #expect(bench.read("broken") == nil)
  }

  @Test func `a device is written to and not replaced`() throws {
    bench.origin.on("/", .text("hello"))
    try bench.run("get {u}/ -o /dev/null").expect(status: 0)
    #expect(FileFacts(path: "/dev/null")?.isPlainFile == false)
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
    let end = try bench.run("get {u}/gone").expect(status: 1, saying: "404")
    #expect(end.output == "no such page")
    #expect(end.errors.split(separator: "\n").count == 1)

    bench.origin.stop()
    let refused = try bench.run("get {u}/ --retry 0").expect(status: 1, saying: "refused")
    #expect(refused.errors.split(separator: "\n").count == 1)
  }

  @Test func `the whole exchange is shown when asked for`() throws {
    bench.origin.on("/", Answer.text("body").header("X-Answer", "yes"))
    let end = try Tool.run(["get", bench.origin.url("/"), "-v", "--header", "Authorization: Bearer secret"])
    #expect(end.output == "body")
    #expect(end.errors.hasPrefix("> GET / HTTP/1.1\n"))
    #expect(end.errors.contains("< HTTP/1.1 200"))
    for field in try #require(bench.origin.requests.first).headers where field.name != "Authorization" {
      #expect(end.errors.contains("> \(field.name): \(field.value)\n"), "\(field)")
    }
    #expect(end.errors.contains("> Authorization: •••\n"), "\(end.errors)")
    #expect(end.errors.contains("< X-Answer: yes\n"))
    #expect(end.errors.contains("first byte"))
    #expect(!end.errors.contains("secret"))
    #expect(bench.origin.requests.first?.header("Authorization") == "Bearer secret")
  }

  @Test func `what is on the wire is shown, of every exchange, without secrets`() throws {
    bench.origin.on("/", .status(302).header("Location", bench.origin.url("/next?token=hidden")))
    bench.origin.on("/next") { request in
      guard request.header("Authorization") != nil else {
        return .status(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
      }
      return Answer.text("in").header("Set-Cookie", "a=hidden")
    }
    let end = try bench.run("get {u}/ -v -u user:hidden --digest")
    #expect(end.output == "in" && !end.errors.contains("hidden"), "\(end.errors)")
    let lines = end.errors.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("> GET /") } == bench.origin.requestCount)
    #expect(lines.count { $0.hasPrefix("< HTTP/1.1 ") } == bench.origin.requestCount)
    #expect(lines.contains("> GET /next?token=••• HTTP/1.1") && lines.contains("< Set-Cookie: •••"))
    let fields = bench.origin.requests.map { $0.headers.count }.reduce(0, +)
    #expect(lines.count { $0.hasPrefix("> ") } == fields + 2 * bench.origin.requestCount)
  }

  @Test func `a head from the cache is put together, and that of its confirmation left out`() throws {
    bench.origin.on("/", Answer.text("x").header("Cache-Control", "max-age=60").reason("Odd"))
    bench.origin.on("/tag") { request in
      let answer = request.header("If-None-Match") == nil ? Answer.text("x") : .status(304)
      return answer.header("ETag", "\"a\"").header("Cache-Control", "max-age=0").reason("Odd")
    }
    for path in ["/", "/tag"] {
      let line = "get -i --cache \(bench["cache"]) {u}\(path)"
      let (first, second) = (try bench.run(line).output, try bench.run(line).output)
      #expect(first.hasPrefix("HTTP/1.1 200 Odd\r\n") && first.hasSuffix("\r\n\r\nx"), "\(first)")
      #expect(second.hasPrefix("HTTP/1.1 200 OK\r\n") && second.hasSuffix("\r\n\r\nx"), "\(second)")
      #expect(!second.contains("304"), "\(second)")
    }
    #expect(bench.origin.requestCount == 3)
  }

  @Test func `heads are shown line by line wherever they are cut`() {
    let head = Array(
      "GET /a?key=hidden HTTP/1.1\r\nHost: h\r\nCookie: hidden\r\nX: \u{1B}[2J\r\nodd line\r\n\r\n".utf8)
    let whole = ["GET /a?key=••• HTTP/1.1", "Host: h", "Cookie: •••", "X: \\u{1B}[2J", "odd line", ""]
    var odd = WireText()
    #expect(odd.lines(of: Array("X-Odd:caf".utf8) + [0xE9, 0x0D, 0x0A]) == ["X-Odd:caf\u{E9}"])
    for cut in 0...head.count {
      var text = WireText()
      #expect(text.lines(of: Array(head[..<cut])) + text.lines(of: Array(head[cut...])) == whole)
    }
    var text = WireText()
    #expect(text.lines(of: Array("HTTP/1.1 200 \u{1B}\n".utf8)) == ["HTTP/1.1 200 ?"])
  }

  @Test func `doctor names every library`() throws {
    let text = try Tool.run(["doctor"]).expect(status: 0)
    for name in [
      "libcurl", "tls", "http2", "libuv", "lmdb", "zlib", "open files", "timeout", "NTLM", "compression",
      "frozen requests",
    ] { #expect(text.output.contains("  \(name)  "), "\(name)") }
    let json = try Tool.run(["doctor", "--json"]).expect(status: 0)
    #expect(json.output.hasPrefix(#"{"versions":{"netspool":"\#(NetSpoolTool.version)","libcurl":""#))
    #expect(json.output.contains(#""timeoutSeconds":300"#))
  }

  @Test(arguments: ["get {u}/", "schema", "doctor", "--help", "get --help", "--version", "demo --count 2 -q"])
  func `a standard output that takes nothing is told`(line: String) throws {
    bench.origin.on("/", .text("body"))
    for output in [">&-", ">/dev/full"] {
      let end = try bench.shell(line, output)
      #expect(end.exit == .status(74), "\(output)")
      #expect(end.errors.contains("standard output"), "\(output): \(end.errors)")
    }
  }

  @Test func `what goes to a file needs no standard output`() throws {
    bench.origin.on("/", .text("body"))
    let end = try bench.shell("get {u}/ -o file", "<&- >&-")
    #expect(end.exit == .status(0) && bench.text("file") == "body", "\(end.errors)")
  }

  @Test(arguments: [
    "--help", "fetch --help", "help get", "-h", "fetch -h", "get -h", "post -h", "frozen -h",
    "frozen list -h", "frozen show -h", "frozen thaw -h", "frozen revive -h", "frozen drop -h", "cache -h",
    "cache stats -h", "cache empty -h", "cache remove -h", "demo -h", "doctor -h", "report -h",
    "report merge -h", "schema -h",
  ])
  func `every command has help`(words: String) throws {
    let end = try bench.run(words).expect(status: 0)
    #expect(end.output.contains("USAGE: netspool"))
  }
}
