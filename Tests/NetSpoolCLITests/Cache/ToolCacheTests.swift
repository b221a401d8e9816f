import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool fetch` and the cache, as users meet it.
@Suite(.ownThreads) struct ToolCacheTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  /// Fetches with a cache that is kept.
  private func fetch(_ line: String) throws -> Tool.End {
    try bench.fetch("--cache \(bench["cache"]) \(line)")
  }

  @Test func `a second fetch asks no origin`() throws {
    bench.serveFresh(0..<30)
    try bench.writeList(0..<30)
    try fetch("list").expect(status: 0)
    let end = try fetch("list --output out --results r --json").expect(status: 0)
    #expect(bench.origin.requestCount == 30)
    #expect(bench.wrong(0..<30).isEmpty)
    #expect(try bench.results("r").allSatisfy { $0.end.source == .cache && $0.end.status == 200 })
    let bytes = (0..<30).reduce(0) { $0 + ToolBench.body($1).count }
    #expect(try bench.results("r").reduce(0) { $0 + $1.end.bytes } == bytes)
    #expect(end.output.contains(#""done":30,"hits":30,"revalidated":0,"#))
    #expect(end.errors.hasPrefix("done: 30 (30 from the cache), "))
  }

  @Test func `what must be confirmed comes without its body`() throws {
    bench.serveTagged(0..<30, "no-cache")
    try bench.writeList(0..<30)
    try fetch("list").expect(status: 0)
    let end = try fetch("list --output out --results r --json").expect(status: 0)
    #expect(bench.origin.requestCount == 60)
    #expect(bench.origin.requests.count { $0.header("If-None-Match") != nil } == 30)
    #expect(bench.wrong(0..<30).isEmpty)
    #expect(try bench.results("r").allSatisfy { $0.end.source == .revalidated && $0.end.status == 200 })
    #expect(end.output.contains(#""hits":30,"revalidated":30,"#))
    #expect(end.errors.contains("(30 from the cache, 30 of them confirmed by the origin)"))
  }

  @Test func `progress shows the hits`() throws {
    bench.serveFresh(0..<3)
    try bench.writeList(0..<3)
    _ = try fetch("list")
    let shown = try bench.run("fetch list --progress always --cache \(bench["cache"])")
    #expect(shown.errors.contains("3 hits"))
  }

  @Test func `the rules decide what is fresh`() throws {
    bench.serveTagged(0..<1, nil)
    for rules in ["standard", "relaxed"] {
      let line = "{u}/0 --cache \(bench["cache-\(rules)"]) --rules \(rules)"
      for _ in 0..<2 { try bench.fetch(line).expect(status: 0) }
      #expect(bench.origin.requestCount == (rules == "standard" ? 2 : 3))
    }
  }

  @Test func `without the cache everything is asked for and nothing is kept`() throws {
    bench.serveFresh(0..<3)
    try bench.writeList(0..<3)
    let environment = ["XDG_CACHE_HOME=\(bench["home"])"]
    for _ in 0..<2 {
      let end = try bench.fetch("list --no-cache --json", environment: environment).expect(status: 0)
      #expect(end.output.contains(#""hits":0,"revalidated":0,"#))
    }
    #expect(bench.origin.requestCount == 6)
    #expect(FileFacts(path: bench["home"]) == nil)
  }

  @Test func `the user's cache is used unless another is named`() throws {
    bench.serveFresh(0..<1)
    let environment = ["XDG_CACHE_HOME=\(bench["home"])"]
    for _ in 0..<2 { try bench.fetch("{u}/0", environment: environment).expect(status: 0) }
    #expect(bench.origin.requestCount == 1)
    #expect(CacheFiles.bytes(in: bench["home/netspool/default"]) != nil)
  }

  @Test func `a dry run leaves the cache alone`() throws {
    try fetch("{u}/0 --dry-run").expect(status: 0)
    #expect(FileFacts(path: bench["cache"]) == nil)
  }

  @Test(arguments: ["fetch", "get"])
  func `a cache that another process keeps is gone on without`(command: String) throws {
    bench.serveFresh(0..<2)
    try fetch("{u}/0").expect(status: 0)
    let directory = unsafe open(bench["cache"], O_RDONLY | O_CLOEXEC)
    defer { close(directory) }
    #expect(flock(directory, LOCK_EX | LOCK_NB) == 0)
    let cached = command == "get" ? "--cached" : "--progress never"
    let end = try bench.run("\(command) {u}/1 \(cached) --cache \(bench["cache"])")
    #expect(end.exit == .status(0) && bench.origin.requestCount == 2)
    let sentence =
      "netspool: storeBusy (opening): another process keeps it for itself: going on without the cache until it is free"
    #expect(end.errors.contains(sentence), "\(end.errors)")
  }

  @Test(arguments: ["others may write", "a file", "a symlink", "a pipe"])
  func `a cache that cannot be used ends with its reason and a way out`(obstacle: String) throws {
    bench.serveFresh(0..<1)
    let path = bench["cache"]
    switch obstacle {
    case "others may write": #expect(unsafe mkdir(path, 0o777) == 0 && chmod(path, 0o777) == 0)
    case "a file": try bench.write("cache", [])
    case "a symlink":
      #expect(unsafe mkdir(path, 0o700) == 0)
      let elsewhere = try bench.write("elsewhere", [])
      #expect(unsafe symlink(elsewhere, path + "/data.mdb") == 0)
    default:
      #expect(unsafe mkdir(path, 0o700) == 0)
      #expect(unsafe mkfifo(path + "/data.mdb", 0o600) == 0)
    }
    try bench.write("r", ["an earlier run's"])
    try bench.run("get {u}/0 --cache \(path)").expect(status: 74)
    let end = try fetch("{u}/0 --results r").expect(status: 74)
    #expect(bench.origin.requestCount == 0)
    #expect(end.errors.hasPrefix("netspool: cannot use the cache in \(path): storeOpenFailed ("))
    #expect(end.errors.hasSuffix("; --no-cache fetches without it\n"))
    #expect(bench.text("r") == "an earlier run's\n")
    try bench.fetch("{u}/0 --no-cache").expect(status: 0)
  }

  @Test func `two processes fill and read one cache`() throws {
    bench.serveFresh(0..<200)
    bench.origin.hold("/0")
    try bench.writeList(0..<200)
    let tools = try ["one", "two"].map { name in
      try bench.start("fetch list --output \(name) --progress never --cache \(bench["cache"])")
    }
    // One of them asks, and the other waits for its answer
    #expect(bench.origin.blockForWaiting("/0", 1))
    bench.origin.releaseAll()
    for tool in tools { #expect(tool.wait() == .status(0), "\(tool.errors.text)") }
    for name in ["one", "two"] { #expect(bench.wrong(0..<200, in: name).isEmpty) }
    let requests = bench.origin.requestCount
    #expect(try fetch("list --output three --json").output.contains(#""hits":200,"#))
    #expect(bench.origin.requestCount == requests)
    #expect(bench.wrong(0..<200, in: "three").isEmpty)
  }

  @Test func `a small cache stays small`() throws {
    let size = 300_000
    for number in 0..<40 {
      bench.origin.on("/\(number)", Answer.pattern(size).header("Cache-Control", "max-age=3600"))
    }
    try bench.writeList(0..<40)
    try fetch("list --cache-size 2M").expect(status: 0)
    let sheet = try bench.run("cache stats --json --cache \(bench["cache"])")
    let bytes = try #require(sheet.output.integer("inUseBytes"))
    #expect(bytes > 0 && bytes <= 2 << 20)
  }
}

extension ToolBench {
  /// Fresh for an hour.
  func serveFresh(_ numbers: Range<Int>) {
    for number in numbers {
      origin.on("/\(number)", .bytes(Self.body(number)).header("Cache-Control", "max-age=3600"))
    }
  }

  /// With an ETag, and 304 for whoever has it.
  func serveTagged(_ numbers: Range<Int>, _ cacheControl: String?) {
    for number in numbers {
      origin.on("/\(number)") { request in
        let isHeld = request.header("If-None-Match") == "\"\(number)\""
        var answer = isHeld ? Answer.status(304) : .bytes(Self.body(number))
        answer = answer.header("ETag", "\"\(number)\"")
        return cacheControl.map { answer.header("Cache-Control", $0) } ?? answer
      }
    }
  }
}

extension String {
  /// The number behind a key of a JSON text.
  func integer(_ key: String) -> Int? {
    guard let start = firstRange(of: "\"\(key)\":")?.upperBound else { return nil }
    return Int(self[start...].prefix { $0.isNumber })
  }
}
