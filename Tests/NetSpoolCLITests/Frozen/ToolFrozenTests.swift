import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool frozen` and what `doctor` says of the store.
@Suite(.ownThreads) struct ToolFrozenTests {
  private let bench: ToolBench
  private var directory: String { bench["frozen"] }

  init() throws {
    bench = try ToolBench()
    bench.origin.on(prefix: "/", .text("taken\n"))
  }

  @Test func `an outcome that cannot be read is told, and the request is sent once`() throws {
    bench.origin.on("/", .text("ok"))
    try bench.leave()
    let line = "frozen thaw \(bench.store.joined(separator: " "))"
    let end = try bench.shell(line, ">/dev/full").expect(status: 74, saying: "cannot write standard output")
    #expect(end.errors.contains("1 sent") && bench.origin.requestCount == 1, "\(end)")
  }

  @Test func `a store that is not there is empty and stays away`() throws {
    #expect(try bench.frozen("list").output == "nothing waits\n")
    #expect(try bench.frozen("list --dead").output == "no dead letters\n")
    #expect(try bench.frozen("list --json").output.isEmpty)
    #expect(try bench.frozen("drop --all").exit == .status(0))
    let thawed = try bench.frozen("thaw").expect(status: 0)
    #expect(thawed.errors == "netspool: nothing waits\n")
    #expect(try bench.frozen("revive 3").errors == "netspool: there is no request #3\n")
    #expect(FileFacts(path: directory) == nil)
  }

  @Test func `the list is a table in the order of sending`() throws {
    try bench.leave("/1?token=hidden", ["--tag", "mail"])
    try bench.leave("/2", ["--header", "X-Api-Key: s3cret"])
    let lines = try bench.frozen("list").output.split(separator: "\n").map(String.init)
    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("#  method  bytes  age"))
    #expect(lines[1].hasPrefix("1  POST    3 B    "))
    #expect(lines[1].contains("  mail  http://127.0.0.1:"))
    #expect(!lines[1].contains("hidden"))
    #expect(lines[2].contains("  X-Api-Key  "))
    #expect(bench.origin.requestCount == 0)
  }

  @Test func `a request is shown with all that is known of it, and as a command`() throws {
    bench.origin.on("/2", .status(410))
    try bench.leave("/1?token=hidden", ["--tag", "mail", "--lane", "a", "--header", "X-Api-Key: s3cret"])
    try bench.leave("/2", ["--lane", "b"])
    #expect(try bench.frozen("thaw 2").exit == .status(1))
    // In words
    let shown = try bench.frozen("show 1 2").output
    #expect(shown.contains("#1 POST http://127.0.0.1:") && shown.contains("  state       waits\n"))
    #expect(shown.contains("  tag         mail\n") && shown.contains("  needs       X-Api-Key\n"))
    #expect(shown.contains(#/  state       dead for .+: frozenRejected \(410\)\n/#))
    // As a command that a shell takes
    let command = try bench.frozen("show 1 --curl").output
    #expect(command.hasPrefix("curl ") && command.contains("@/dev/stdin"), "\(command)")
    #expect(command.contains("Idempotency-Key: "), "\(command)")
    for text in [shown, command] { #expect(!text.contains("hidden") && !text.contains("s3cret")) }
    // For programs
    #expect(try bench.frozen("show 1 --json").output.hasPrefix(#"{"id":1,"state":"waiting","#))
    #expect(try bench.frozen("show 2 --json").output.hasPrefix(#"{"id":2,"state":"dead","#))
    let none = try bench.frozen("show 9")
    #expect(none.exit == .status(1) && none.errors == "netspool: there is no request #9\n")
  }

  @Test func `thaw sends and reports each`() throws {
    bench.origin.on("/2", .status(410))
    for path in ["/1", "/2", "/3"] { try bench.leave(path) }
    let end = try bench.frozen("thaw").expect(status: 1)
    #expect(
      end.output == """
        sent #1 POST \(bench.origin.url("/1")): 200, 1 attempt
        dead #2 POST \(bench.origin.url("/2")): frozenRejected (410), 1 attempt
        sent #3 POST \(bench.origin.url("/3")): 200, 1 attempt

        """)
    #expect(end.errors == "netspool: 2 sent, 1 dead, see 'frozen list --dead'\n")
    let dead = try bench.frozen("list --dead").output
    #expect(dead.contains("frozenRejected (410)"))
    #expect(try bench.frozen("list").errors.hasPrefix("netspool: 1 dead letter: netspool frozen list --dead"))
    let row = #"{"id":2,"state":"dead","error":"frozenRejected","reason":"410","isOutcomeUnknown":false,"#
    #expect(try bench.frozen("list --dead --json").output.hasPrefix(row))
  }

  @Test func `what was accepted for one server is given to no other, by a thaw or the next post`() throws {
    // Given a request that any server may answer, which has to be said again
    try bench.leave("/1", ["-k"])
    try bench.frozen("thaw").expect(status: 2, saying: "was accepted with other --resolve")
    #expect(try Tool.run(bench.post("/2")).exit == .status(0))
    #expect(bench.origin.requests.map(\.path) == ["/2"])
    #expect(try bench.frozen("thaw -k").output.hasPrefix("sent #1 POST"))
  }

  @Test func `thaw leaves at the deadline`() throws {
    bench.origin.stop()
    try bench.leave("/1")
    let end = try bench.frozen("thaw --timeout 1ms").expect(status: 2)
    #expect(end.errors.hasSuffix("netspool: 0 sent, 1 still waits\n"))
    #expect(try bench.waiting().count == 1)
  }

  @Test func `what a program has frozen is left to it, and said`() throws {
    let engine = try NetworkEngine(host: "127.0.0.1")
    var settings = FreezeConfiguration(directory: directory)
    settings.maySend = { _ in false }
    try engine.useFreezing(settings)
    var request = NetworkRequest(url: bench.origin.url("/1"), method: .post, body: .bytes([1]))
    request.isFreezable = true
    engine.enqueue(engine.operation(request))
    engine.flushFrozen(deadline: 60)
    engine.shutDownAndWait()
    let said = "netspool: 1 request waits for the program that froze it\n"
    let listed = try bench.frozen("list")
    #expect(listed.output == "nothing waits\n" && listed.errors == said)
    let thawed = try bench.frozen("thaw").expect(status: 0)
    #expect(thawed.errors == said + "netspool: nothing waits\n")
    #expect(try bench.frozen("list --dead").errors.isEmpty && bench.origin.requestCount == 0)
  }

  @Test func `a signal ends a thaw`() throws {
    bench.origin.hold("/1")
    try bench.leave("/1")
    let tool = try Tool(["frozen", "thaw"] + bench.store)
    #expect(bench.origin.blockForWaiting("/1", 1))
    tool.signal(SIGTERM)
    #expect(tool.wait() == .status(143))
    #expect(tool.errors.text.hasSuffix("netspool: 0 sent, 1 still waits\n"))
    bench.origin.releaseAll()
    #expect(try bench.frozen("thaw").exit == .status(0))
  }

  @Test func `only those that are named are sent`() throws {
    try bench.leave("/1", ["--lane", "a"])
    try bench.leave("/2", ["--lane", "b"])
    try bench.leave("/3", ["--lane", "a"])
    #expect(try bench.frozen("thaw 2").exit == .status(0))
    #expect(bench.origin.requests.map(\.path) == ["/2"])
    // Its lane is kept in order
    try bench.frozen("thaw 3").expect(status: 2, saying: "waits behind #1 of its lane")
    try bench.frozen("thaw 2").expect(status: 64, saying: "no request #2 waits")
    #expect(bench.origin.requestCount == 1)
  }

  @Test func `secrets are never stored and are given again`() throws {
    try bench.leave("/1", ["--header", "Authorization: Bearer s3cret", "--header", "X-Colour: blue"])
    let stored = try #require(bench.read("frozen/data.mdb"))
    #expect(!stored.contains(Array("s3cret".utf8)) && stored.contains(Array("blue".utf8)))
    let without = try bench.frozen("thaw").expect(status: 2, saying: "--header 'Authorization: ...'")
    #expect(
      without.errors.contains("needs Authorization, which is not in the store: netspool frozen thaw 1 "))
    #expect(bench.origin.requestCount == 0)
    #expect(try bench.frozen("thaw", ["--header", "authorization: Bearer l4ter"]).exit == .status(0))
    let sent = try #require(bench.origin.requests.first)
    #expect(sent.header("Authorization") == "Bearer l4ter" && sent.header("X-Colour") == "blue")
  }

  @Test func `a secret is for one origin`() throws {
    let other = try ScriptedOrigin()
    other.on("/", .text("taken\n"))
    try bench.leave("/1", ["--header", "X-Api-Key: one"])
    let words = ["post", other.url("/"), "--data", "x", "--freeze", "--detach", "--header", "X-Api-Key: two"]
    #expect(try Tool.run(words + bench.store).exit == .status(0))
    let both = try bench.frozen("thaw --header X-Api-Key:one").expect(status: 64)
    #expect(both.errors.contains("X-Api-Key is needed for http://127.0.0.1:"))
    #expect(bench.origin.requestCount + other.requestCount == 0)
    #expect(try bench.frozen("thaw 2 --header X-Api-Key:two").exit == .status(0))
    #expect(other.requests.map { $0.header("X-Api-Key") } == ["two"])
    #expect(bench.origin.requestCount == 0)
  }

  @Test func `a post does not lend its secrets`() throws {
    try bench.leave("/1", ["--header", "Authorization: Bearer first"])
    let end = try Tool.run(bench.post("/2", ["--header", "Authorization: Bearer second"])).expect(status: 2)
    #expect(end.errors.contains("netspool: #2 stays frozen: #1 goes first and needs Authorization"))
    #expect(bench.origin.requestCount == 0)
    // In another lane nothing stands before it
    let free = try Tool.run(bench.post("/3", ["--header", "Authorization: Bearer third", "--lane", "free"]))
    #expect(free.exit == .status(0))
    #expect(bench.origin.requests.map(\.path) == ["/3"])
    #expect(try bench.waiting().count == 2)
  }

  @Test func `what is dropped is gone`() throws {
    bench.origin.on("/2", .status(410))
    try bench.leave("/1", ["--lane", "a"])
    try bench.leave("/2", ["--lane", "b"])
    #expect(try bench.frozen("thaw 2").exit == .status(1))
    #expect(try bench.frozen("drop 1").output == "dropped #1\n")
    #expect(try bench.frozen("list --dead --json").output.contains(#"{"id":2,"#))
    #expect(try !bench.frozen("list --dead --json").output.contains(#"{"id":1,"#))
    try bench.leave("/3")
    let again = try bench.frozen("drop 1")
    #expect(again.exit == .status(1) && again.errors == "netspool: there is no request #1\n")
    #expect(try bench.frozen("drop --all").output == "dropped #3\ndropped #2\n")
    #expect(try bench.frozen("list").output == "nothing waits\n")
    #expect(try bench.frozen("list --dead").output == "no dead letters\n")
  }

  @Test func `a store others may write to is refused`() throws {
    try bench.leave("/1")
    #expect(unsafe chmod(directory, 0o777) == 0)
    for line in ["list", "thaw", "drop 1"] {
      let end = try bench.frozen(line).expect(status: 74)
      #expect(end.errors.hasPrefix("netspool: cannot use the frozen store in \(directory): "))
      #expect(end.errors.contains("it must be writable for this user and for nobody else"))
    }
  }

  @Test func `garbage is put aside and named`() throws {
    #expect(unsafe mkdir(directory, 0o700) == 0)
    try bench.write("frozen/data.mdb", (0..<2_000).map { "garbage \($0)" })
    #expect(try Tool.run(["doctor"] + bench.store).output.contains("  state      damaged ("))
    let end = try Tool.run(bench.post("/1")).expect(status: 0)
    #expect(end.errors.hasPrefix("netspool: the frozen store in \(directory) was damaged ("))
    #expect(end.errors.contains("it is kept as \(directory)/data.mdb.bad-"))
    #expect(bench.origin.requestCount == 1)
  }

  @Test func `a request whose bytes are damaged is named and counts as dead`() throws {
    for path in ["/w1", "/w2", "/w3"] { try bench.leave(path) }
    let path = "\(directory)/data.mdb"
    var bytes = try TestFiles.read(path)
    for place in bytes.indices where bytes[place...].starts(with: "/w2".utf8) { bytes[place + 1] ^= 1 }
    try TestFiles.write(bytes, to: path)
    let end = try bench.frozen("thaw").expect(status: 1)
    #expect(end.errors.contains("netspool: #2 in the frozen store in \(directory) was damaged"))
    #expect(end.errors.hasSuffix("netspool: 2 sent, 1 dead, see 'frozen list --dead'\n"))
    #expect(bench.origin.requests.map(\.path) == ["/w1", "/w3"])
  }

  @Test func `doctor shows the store`() throws {
    let before = try Tool.run(["doctor"] + bench.store)
    #expect(before.output.contains("frozen\n  directory  \(directory)\n  state      not there yet\n"))
    #expect(FileFacts(path: directory) == nil)
    try bench.leave("/1")
    let json = try Tool.run(["doctor", "--json"] + bench.store)
    #expect(
      json.output.contains(
        #""frozen":{"directory":"\#(directory)","state":"in order","waiting":1,"deadLetters":0}"#))
    #expect(bench.origin.requestCount == 0)
    bench.origin.stop()
    let tool = try Tool(bench.post("/2"))
    #expect(tool.output.wait(for: "frozen #2"))
    let during = try Tool.run(["doctor"] + bench.store).expect(status: 0)
    #expect(during.output.contains("  state      in use\n  owner      process "))
    tool.signal(SIGINT)
    #expect(tool.wait() == .status(130))
  }
}
