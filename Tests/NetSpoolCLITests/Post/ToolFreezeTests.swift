import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool post --freeze`: what was accepted is sent, whatever becomes of the process.
@Suite(.ownThreads) struct ToolFreezeTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.origin.on("/", .text("taken\n"))
  }

  /// `#1, idempotency key <uuid>` of a line that says it is frozen.
  private func key(_ output: String) throws -> String {
    let line = try #require(output.split(separator: "\n").first)
    #expect(line.hasPrefix("frozen #"))
    return String(try #require(line.split(separator: " ").dropFirst(4).first))
  }

  @Test func `the ticket comes first and then the answer`() throws {
    let end = try Tool.run(bench.post()).expect(status: 0)
    let key = try key(end.output)
    #expect(end.output == "frozen #1, idempotency key \(key)\ntaken\n")
    #expect(end.errors.isEmpty)
    #expect(bench.origin.requests.map { $0.header("Idempotency-Key") } == ["\"\(key)\""])
    #expect(try bench.waiting().isEmpty)
  }

  @Test(arguments: ["mine", "\"mine\""]) func `a key that stands in a field is the key`(field: String) throws
  {
    let end = try Tool.run(bench.post("/", ["-H", "Idempotency-Key: \(field)"])).expect(status: 0)
    #expect(end.output == "frozen #1, idempotency key mine\ntaken\n")
    #expect(bench.origin.requests.map { $0.header("Idempotency-Key") } == ["\"mine\""])
  }

  @Test func `an answer that is too long comes to a request that was taken`() throws {
    bench.origin.on("/", .pattern(70_000_000))
    let end = try Tool.run(bench.post()).expect(status: 1)
    #expect(end.errors.hasSuffix("netspool: the server has taken #1 all the same\n"), "\(end.errors)")
    #expect(try bench.waiting().isEmpty)
  }

  @Test func `the ticket is one object when told so`() throws {
    let output = bench["answer"]
    let end = try Tool.run(bench.post("/", ["--json-output", "--idempotency-key", "k", "-o", output]))
    #expect(end.exit == .status(0))
    let url = bench.origin.url("/")
    #expect(
      end.output
        == #"{"id":1,"idempotencyKey":"k","isDuplicate":false,"method":"POST","url":"\#(url)"}"# + "\n")
    #expect(bench.text("answer") == "taken\n")
  }

  @Test func `waits for a dead origin and says so`() throws {
    bench.origin.stop()
    let tool = try Tool(bench.post())
    #expect(tool.output.wait(for: "frozen #1"))
    #expect(tool.errors.wait(for: "netspool: #1 waits: cannot connect\n"))
    try bench.origin.start()
    #expect(tool.wait() == .status(0))
    #expect(tool.output.text.hasSuffix("\ntaken\n"))
    #expect(bench.origin.requestCount == 1)
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func `a signal leaves it frozen and the command it prints sends it`(signal: Int32, status: Int32) throws {
    bench.origin.stop()
    let tool = try Tool(bench.post())
    #expect(tool.output.wait(for: "frozen #1"))
    tool.signal(signal)
    #expect(tool.wait() == .status(status))
    let key = try key(tool.output.text)
    let line = tool.errors.text.split(separator: "\n").last ?? ""
    #expect(line.hasPrefix("netspool: #1 stays frozen; to send it: netspool frozen thaw --frozen-store "))
    try bench.origin.start()
    let again = try tool.runCommand(after: "to send it: ").expect(status: 0)
    #expect(again.output == "sent #1 POST \(bench.origin.url("/")): 200, 1 attempt\n")
    #expect(again.errors == "netspool: 1 sent\n")
    #expect(bench.origin.requests.map { $0.header("Idempotency-Key") } == ["\"\(key)\""])
    #expect(bench.origin.requests.map(\.text) == ["a=b"])
  }

  @Test func `a killed process loses nothing`() throws {
    bench.origin.hold("/")
    let tool = try Tool(bench.post())
    #expect(bench.origin.blockForWaiting("/", 1))
    #expect(tool.output.wait(for: "frozen #1"))
    tool.signal(SIGKILL)
    #expect(tool.wait() == .signal(SIGKILL))
    bench.origin.releaseAll()
    let waiting = try bench.waiting()
    #expect(waiting.count == 1 && waiting[0].contains(#""attempts":1"#))
    #expect(try bench.frozen("thaw").exit == .status(0))
    #expect(Set(bench.origin.requests.map { $0.header("Idempotency-Key") }).count == 1)
    #expect(try bench.waiting().isEmpty)
  }

  @Test func `a refusal makes a dead letter that can be revived`() throws {
    bench.origin.on("/", .text("no such thing\n", status: 422))
    let end = try Tool.run(bench.post()).expect(status: 1, saying: "the server has refused it: status 422")
    #expect(end.output.hasSuffix("\nno such thing\n"))
    #expect(end.errors.contains("netspool frozen revive 1 --frozen-store "))
    bench.origin.on("/", .text("taken\n"))
    #expect(try bench.frozen("revive 1").output == "revived #1\n")
    let thawed = try bench.frozen("thaw --json").expect(status: 0)
    #expect(thawed.output.hasPrefix(#"{"id":1,"state":"sent","status":200,"#))
  }

  @Test(arguments: [
    "--retry 3", "--retry-max-time 1m", "--write-out x", "--remote-name", "--cookie-jar jar", "--cookie jar",
    "--dump-header head", "--include", "--cert c", "--header Accept:", "--max-filesize 1k", "--etag-save tag",
    "--no-clobber", "--output-dir out", "--remote-time",
  ])
  func `an option that a frozen request does not keep is refused by its name`(words: String) throws {
    let end = try Tool.run(bench.post("/", bench.words(words))).expect(status: 64)
    let name = String(words.prefix { $0 != " " })
    #expect(end.errors.contains(name), "\(end.errors)")
    #expect(end.output.isEmpty && bench.origin.requestCount == 0 && bench.read("frozen/data.mdb") == nil)
  }

  @Test func `defaults of the configuration file freeze what they do not know`() throws {
    #expect(unsafe mkdir(bench["netspool"], 0o700) == 0)
    try bench.write("netspool/config", ["retry = 5", "remote-time", "header = \"Accept:\""])
    let end = try Tool.run(bench.post(), environment: ["XDG_CONFIG_HOME=\(bench[""])"]).expect(status: 0)
    #expect(end.output.hasSuffix("\ntaken\n"))
  }

  @Test func `the page of a refusal and the messages go where they are told to`() throws {
    bench.origin.on("/", .text("no such thing\n", status: 422))
    let end = try Tool.run(bench.post("/", ["--fail", "--stderr", bench["messages"]])).expect(status: 1)
    #expect(end.output.split(separator: "\n").count == 1 && end.errors.isEmpty, "\(end)")
    #expect(bench.text("messages")?.contains("status 422") == true)
  }

  @Test func `what earlier calls left goes first`() throws {
    bench.origin.on(prefix: "/", .text("taken\n"))
    try bench.leave("/1")
    try bench.leave("/2")
    #expect(bench.origin.requestCount == 0)
    let end = try Tool.run(bench.post("/3")).expect(status: 0)
    #expect(bench.origin.requests.map(\.path) == ["/1", "/2", "/3"])
    #expect(end.errors.contains("netspool: sent #1 POST \(bench.origin.url("/1")): 200, 1 attempt\n"))
  }

  @Test func `what is to be done once is done once`() throws {
    let first = try bench.leave("/", ["--dedupe", "one"])
    let second = try bench.leave("/", ["--dedupe", "one"])
    #expect(try key(first) == key(second))
    #expect(second.hasSuffix(" (it waits already)\n"))
    #expect(try bench.waiting().count == 1)
  }

  @Test func `names and times are kept`() throws {
    try bench.leave("/", ["--lane", "mail", "--tag", "letters", "--expires", "1h"])
    let row = try #require(try bench.waiting().first)
    #expect(row.contains(#""lane":"mail","tag":"letters","bytes":3,"attempts":0"#))
    // An hour later the minutes and seconds are the same.
    let times = ["createdAt", "expiresAt"].map { key in
      String(row.split(separator: "\"").drop { $0 != key }.dropFirst(2).first ?? "")
    }
    #expect(times.allSatisfy { $0.count == 24 && $0.hasSuffix("Z") }, "\(times)")
    #expect(
      times[0] < times[1] && times[0].dropFirst(14).prefix(5) == times[1].dropFirst(14).prefix(5), "\(times)")
  }

  @Test func `another process that has the store is named`() throws {
    bench.origin.stop()
    let first = try Tool(bench.post())
    #expect(first.output.wait(for: "frozen #1"))
    for words in [bench.post(), ["frozen", "list"] + bench.store] {
      let end = try Tool.run(words).expect(status: 74)
      #expect(
        end.errors.hasPrefix("netspool: cannot use the frozen store in \(bench["frozen"]): process "))
      #expect(end.errors.hasSuffix(" (netspool) has it\n"))
      #expect(end.output.isEmpty)
    }
    first.signal(SIGINT)
    #expect(first.wait() == .status(130))
  }

  @Test func `a store that cannot be used is a local error`() throws {
    _ = try bench.write("frozen", ["not a directory"])
    let end = try Tool.run(bench.post()).expect(status: 74)
    #expect(end.errors.hasPrefix("netspool: cannot use the frozen store in \(bench["frozen"]): "))
    #expect(bench.origin.requestCount == 0)
  }

  @Test func `the default store is the user's`() throws {
    let words = ["post", bench.origin.url("/"), "--json", "{}", "--freeze", "--detach"]
    let state = bench["state"]
    #expect(try Tool.run(words, environment: ["XDG_STATE_HOME=\(state)"]).exit == .status(0))
    #expect(FileFacts(path: "\(state)/netspool/tool/data.mdb")?.isPlainFile == true)
    let listed = try Tool.run(["frozen", "list"], environment: ["XDG_STATE_HOME=\(state)"])
    #expect(listed.output.contains(bench.origin.url("/")))
  }
}
