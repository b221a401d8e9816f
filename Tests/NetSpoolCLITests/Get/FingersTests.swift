import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Options of curl's that fingers expect.
@Suite(.ownThreads) struct FingersTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.fallback { .text($0.target) }
  }

  private func get(_ line: String) throws -> Tool.End { try bench.run("get \(line)") }

  @Test(
    arguments: [
      ("/[1-3]", ["/1", "/2", "/3"]), ("/[008-012:2]", ["/008", "/010", "/012"]),
      ("/[a-e:2]", ["/a", "/c", "/e"]), ("/{a,,b c}", ["/a", "/", "/b c"]),
      ("/{x,y}[1-2]", ["/x1", "/x2", "/y1", "/y2"]), ("/\\[1-2\\]", ["/[1-2]"]),
      ("http://[::1]/", ["http://[::1]/"]), ("/[1-", ["/[1-"]), ("/{}", ["/{}"]), ("/[3-1]", ["/[3-1]"]),
      ("/[1-2][", ["/1[", "/2["]),
    ])
  func `brackets and braces stand for many`(text: String, urls: [String]) {
    let glob = URLGlob(text)
    #expect((0..<glob.count).map { glob.url($0).text } == urls)
    #expect(URLGlob(text, isOff: true).count == 1 && URLGlob(text, isOff: true).url(0).text == text)
    #expect(URLGlob("[1-9999999999][1-9999999999]").count == .max)
    #expect(URLGlob("[0-9223372036854775807]").url(7).text == "7")
  }

  @Test func `get asks all of them, and fills their parts into names`() throws {
    try get("{u}/{a,b}/[1-2] -o #1-#2-#3.txt {u}/last -o last").expect(status: 0)
    #expect(
      bench.text("a-1-#3.txt") == "/a/1" && bench.text("b-2-#3.txt") == "/b/2"
        && bench.text("last") == "/last")
    #expect(try get("-g {u}/{a,b}").output == "/{a,b}")
  }

  @Test func `fetch takes them on the command line, not in a list`() throws {
    try bench.fetch("{u}/[1-3] -o out --no-cache -q").expect(status: 0)
    #expect((1...3).allSatisfy { bench.text("out/\($0)") == "/\($0)" })
    try bench.write("list", ["{u}/{a,b}"])
    try bench.fetch("list -o listed --no-cache -q").expect(status: 0)
    #expect(bench.text("listed/{a,b}") == "/{a,b}")
  }

  @Test func `an entity-tag is kept and compared`() throws {
    bench.origin.on("/tag") {
      $0.header("If-None-Match") == "\"v1\"" ? .status(304) : Answer.text("body").header("ETag", "\"v1\"")
    }
    let line = "{u}/tag --etag-save tag --etag-compare tag"
    #expect(try get(line).output == "body" && bench.text("tag") == "\"v1\"\n")
    let second = try get("\(line) -o file")
    #expect(second.exit == .status(0) && bench.read("file") == nil, "\(second.errors)")
    #expect(bench.origin.requests.first?.header("If-None-Match") == "\"\"")
  }

  @Test func `a file that is there stays with no-clobber`() throws {
    for _ in 0..<3 { try get("{u}/x -o f --no-clobber").expect(status: 0) }
    #expect(bench.text("f") == "/x" && bench.text("f.1") == "/x" && bench.text("f.2") == "/x")
  }

  @Test func `no-clobber writes over nothing where all its names are taken`() throws {
    for name in ["f"] + (1...100).map({ "f.\($0)" }) { try bench.write(name, ["mine"]) }
    try get("{u}/x -o f --no-clobber").expect(status: 74, saying: "cannot write over f")
    #expect(bench.text("f") == "mine\n" && bench.origin.requestCount == 0)
  }

  @Test func `options come from a file, curl's way of writing them included`() throws {
    try bench.write("options", ["user-agent = \"me\"", "-H \"X-A: b\"", "s", "url = \"{u}/k\""])
    let end = try get("-K options")
    #expect(end.output == "/k" && bench.origin.requests.first?.header("User-Agent") == "me", "\(end.errors)")
    #expect(bench.origin.requests.first?.header("X-A") == "b")
    try bench.write("wrong", ["nonsense = 1"])
    #expect(try get("-K wrong").errors.contains("wrong:1: there is no option 'nonsense'"))
  }

  @Test func `url-query goes behind the question mark, with a body as well`() throws {
    let end = try Tool.run(bench.words("post {u}/q?x=1 -d body --url-query") + ["a=b c"])
    #expect(end.output == "/q?x=1&a=b+c" || end.output == "/q?x=1&a=b%20c", "\(end)")
    #expect(bench.origin.requests.first?.text == "body")
  }

  @Test func `messages go where stderr says`() throws {
    bench.origin.stop()
    let end = try get("{u}/ --retry 0 --stderr messages")
    #expect(end.errors.isEmpty && bench.text("messages")?.contains("connection refused") == true)
  }

  @Test func `pipes of the shell are uploaded`() throws {
    let tool = try Tool.path()
    let script = """
      \(tool) get -T <(echo piped) \(bench.origin.url("/put")) && \(tool) post -F "f=@"<(echo formed) \(bench.origin.url("/form"))
      """
    try Tool.run(["-c", script], program: "/bin/bash").expect(status: 0)
    let requests = bench.origin.requests
    #expect(requests.first?.text == "piped\n" && requests.first?.method == "PUT")
    #expect(requests.last?.text.contains("formed\n") == true)
  }

  @Test func `what is not here is refused with its reason, and the manual has it`() throws {
    let manual = try TestFiles.text(
      TestFiles.parts.dropLast("Tests/Parts".count) + "Sources/NetSpool/NetSpool.docc/Tool.md")
    for name in OptionTable.names(of: "refused").sorted() {
      let option = name.count == 1 ? "-\(name)" : "--\(name)"
      if name != "ipv4", name != "ipv6", name != "proxytunnel", name != "parallel", name != "http1.0" {
        #expect(manual.contains("`\(option)`"), "\(option)")
      }
      #expect(
        OptionTable.find(name, of: "get") == nil && OptionTable.refusal(name, of: "get")?.isEmpty == false)
    }
    #expect(try get("--path-as-is {u}/").errors.hasPrefix("netspool: --path-as-is is not here: "))
  }

  @Test func `next begins a command line with options of its own`() throws {
    for path in ["/a", "/b"] { bench.origin.on(path) { .text("\($0.method) ") } }
    bench.origin.on("/none", .status(404))
    let end = try get("{u}/a -d x=1 --next -f {u}/none -: -sXPUT {u}/b")
    #expect(end.exit == .status(1) && end.output == "POST PUT ", "\(end)")
    #expect(bench.origin.requests.map(\.method) == ["POST", "GET", "PUT"])
    let printed = try get("--curl -i {u}/a --next --curl -o out {u}/b").output
    let lines = printed.split(separator: "\n")
    #expect(
      lines.count == 2 && lines[0].hasSuffix(" --include") && lines[1].hasSuffix(" --output out"), "\(lines)")
  }

  @Test func `a value that is wrong is told after the one prefix`() throws {
    let end = try get("--retry many {u}/")
    #expect(end.exit == .status(64) && end.errors.hasPrefix("netspool: "), "\(end.errors)")
  }

  // MARK: Words of fetch

  @Test func `what the server asks is said, and codes are not`() throws {
    bench.origin.on("/busy", Answer.status(503).header("Retry-After", "86400"))
    let busy = try bench.fetch("{u}/busy --no-cache --retry 0")
    #expect(busy.errors.contains("status 503, the server asks to come back in 1d"), "\(busy.errors)")
    #expect(try get("{u}/busy --retry 0").errors.contains("come back in 1d"))
    #expect(FailureWords.comeBack("99999999999999999") != nil && FailureWords.comeBack("-5") != nil)
    let digest = String(repeating: "a", count: 64)
    try bench.write("list", ["{u}/f\tname\tsha256=\(digest)"])
    let wrong = try bench.fetch("list -o out --no-cache")
    #expect(
      wrong.errors.contains("name is not what sha256= says") && !wrong.errors.contains("digestMismatch"))
    bench.origin.stop()
    let refused = try bench.fetch("{u}/f --no-cache --retry 0")
    #expect(refused.errors.contains("cannot connect to 127.0.0.1:\(bench.origin.port): connection refused"))
    #expect(!refused.errors.contains("connectFailed"), "\(refused.errors)")
  }

  @Test func `further failures name the option that has them`() throws {
    try bench.fetch("{u}/[1-12] --no-cache --names url").expect(status: 0)
    bench.origin.fallback(.status(404))
    let failed = try bench.fetch("{u}/[1-12] --no-cache")
    #expect(failed.errors.contains("--failed x.txt writes all of them"), "\(failed.errors)")
  }

  @Test func `without a folder for the cache fetch goes on, and says so once`() throws {
    let nowhere = ["XDG_CACHE_HOME=/dev/null/none", "HOME=/dev/null"]
    let end = try bench.fetch("{u}/[1-3]", environment: nowhere).expect(status: 0)
    #expect(end.errors.ranges(of: "goes on without a cache").count == 1, "\(end.errors)")
    try bench.fetch("{u}/[1-3] --cache /dev/null/none").expect(status: 74)
  }

  @Test func `a reader that leaves ends a dry run quietly`() throws {
    let lines = try bench.write("list", (0..<20_000).map { "http://h/\($0)" })
    let script = "\(try Tool.path()) fetch --dry-run \(lines) | head -n 1"
    let end = try Tool.run(["-c", script], program: "/bin/sh")
    #expect(end.output == "http://h/0\n" && end.errors.isEmpty, "\(end.errors)")
  }

  @Test func `a dash is standard output, or refused`() throws {
    let refused = try bench.fetch("{u}/ -o - --no-cache")
    #expect(refused.exit == .status(64) && bench.read("-") == nil)
    let har = try bench.fetch("{u}/ --har - --no-cache -q")
    #expect(har.output.hasPrefix("{\"log\":{") && har.output.hasSuffix("]}}\n"), "\(har)")
    bench.origin.fallback(.status(404))
    let failed = try bench.fetch("{u}/no --failed - --no-cache -q")
    #expect(failed.output == bench.origin.url("/no") + "\n")
  }

  @Test func `pipes of the shell are merged as files are`() throws {
    _ = try bench.fetch("{u}/[1-3] --no-cache -q --results a")
    let pipe = "<(cat '\(bench["a"])')"
    let end = try Tool.run(["-c", "\(try Tool.path()) report merge \(pipe) \(pipe)"], program: "/bin/bash")
    #expect(end.exit == .status(0) && end.output == bench.text("a"), "\(end.errors)")
  }

  @Test func `merged results go to standard output`() throws {
    _ = try bench.fetch("{u}/[1-3] --no-cache -q --results a")
    let end = try bench.run("report merge a a")
    #expect(end.output.split(separator: "\n").count == 3 && end.errors.contains("done"), "\(end)")
    #expect(try bench.run("report merge a --json").output.split(separator: "\n").count == 1)
  }
}
