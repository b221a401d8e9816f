import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool cache`, `get --cached` and what `doctor` says of the cache.
@Suite(.ownThreads) struct ToolCacheCommandTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private var place: String { "--cache \(bench["cache"])" }

  private func cache(_ line: String) throws -> Tool.End { try bench.run("cache \(line) \(place)") }

  /// How many more requests a fetch of the numbers takes.
  private func asked(_ numbers: Range<Int>) throws -> Int {
    let before = bench.origin.requestCount
    try bench.writeList(numbers)
    try bench.fetch("list --quiet \(place)").expect(status: 0)
    return bench.origin.requestCount - before
  }

  @Test func `stats tell where it is and what it holds`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    let text = try cache("stats").expect(status: 0)
    #expect(text.output.hasPrefix("cache\n  directory  \(bench["cache"])\n  entries    12\n  in use     "))
    let json = try cache("stats --json")
    #expect(json.output.hasPrefix(#"{"cache":{"directory":"\#(bench["cache"])","entries":12,"inUseBytes":"#))
    let bytes = (0..<12).reduce(0) { $0 + ToolBench.body($1).count }
    #expect(try #require(json.output.integer("inUseBytes")) >= bytes)
    #expect(try #require(json.output.integer("fileBytes")) >= bytes)
  }

  @Test func `a cache that is not there is empty and stays away`() throws {
    #expect(try cache("stats --json").output.contains(#""entries":0"#))
    #expect(try cache("empty").output == "removed 0 entries\n")
    #expect(try cache("remove http://h/").output == "removed 0 entries\n")
    #expect(FileFacts(path: bench["cache"]) == nil)
  }

  @Test func `what is removed is asked for again`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    #expect(try cache("remove {u}/3 {u}/nothing").output == "removed 1 entry\n")
    #expect(try asked(0..<12) == 1)
    // 1, 10 and 11
    #expect(try cache("remove --prefix {u}/1").output == "removed 3 entries\n")
    #expect(try asked(0..<12) == 3)
    #expect(try cache("empty").output == "removed 12 entries\n")
    #expect(try asked(0..<12) == 12)
  }

  @Test func `looking never evicts`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    for line in ["stats", "remove {u}/none"] { try cache(line).expect(status: 0) }
    #expect(try asked(0..<12) == 0)
  }

  @Test(arguments: ["stats", "empty", "remove http://h/"])
  func `a cache that cannot be used is a local error`(line: String) throws {
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    #expect(unsafe chmod(bench["cache"], 0o777) == 0)
    let end = try cache(line).expect(status: 74)
    #expect(end.errors.hasPrefix("netspool: cannot use the cache in \(bench["cache"]): "))
    #expect(!end.errors.contains("--no-cache"))
  }

  @Test(arguments: ["stats", "empty", "remove http://h/"])
  func `a file in its place is a local error`(line: String) throws {
    _ = try bench.write("cache", ["not a directory"])
    let end = try cache(line).expect(status: 74)
    #expect(end.errors == "netspool: cannot use the cache in \(bench["cache"]): it is no directory\n")
  }

  @Test(arguments: ["stats", "empty", "remove http://h/"])
  func `a cache that is another user's is no empty one`(line: String) throws {
    guard geteuid() == 0 else { return }
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    let other = "--reuid=65534 --regid=65534 --clear-groups \(try Tool.path()) cache \(line) \(place)"
    let end = try Tool.run(bench.words(other), program: "/usr/bin/setpriv")
    #expect(end.exit == .status(74) && end.output.isEmpty)
    #expect(end.errors == "netspool: cannot use the cache in \(bench["cache"]): it is another user's\n")
  }

  @Test func `get uses the cache only when told`() throws {
    bench.serveFresh(0..<1)
    for _ in 0..<2 { try bench.run("get {u}/0 -o a").expect(status: 0) }
    #expect(bench.origin.requestCount == 2)
    let environment = ["XDG_CACHE_HOME=\(bench["home"])"]
    for cached in ["--cached", place] {
      for _ in 0..<2 {
        try bench.run("get {u}/0 -v -o b \(cached)", environment: environment).expect(status: 0)
        #expect(bench.read("b") == ToolBench.body(0))
      }
    }
    #expect(bench.origin.requestCount == 4)
    let end = try bench.run("get {u}/0 -v --cached", environment: environment)
    #expect(end.errors.contains("* from the cache, "))
    #expect(end.errors.contains("< Age: "))
  }

  @Test func `get says when the origin confirmed`() throws {
    bench.serveTagged(0..<1, "no-cache")
    let line = "get {u}/0 -v -o a \(place)"
    #expect(try !bench.run(line).errors.contains("from the cache"))
    #expect(try bench.run(line).errors.contains("* from the cache, confirmed by the origin"))
    #expect(bench.read("a") == ToolBench.body(0))
  }

  @Test func `doctor shows the cache`() throws {
    let before = try bench.run("doctor \(place)")
    #expect(before.output.contains("  cache           \(bench["cache"])\n"))
    #expect(before.output.contains("  cache file      not there yet\n"))
    #expect(FileFacts(path: bench["cache"]) == nil)
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    let json = try bench.run("doctor --json \(place)")
    #expect(json.output.contains(#""cache":"\#(bench["cache"])""#))
    #expect(json.output.integer("cacheFileBytes") == CacheFiles.bytes(in: bench["cache"]))
    #expect(json.output.contains(#""cacheSizeBytes":1073741824,"cachedBodyBytes":16777216"#))
  }
}
