import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// `netspool cache`, `get --cached` and what `doctor` says of the cache.
@Suite(.ownThreads) struct ToolCacheCommandTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  private var place: [String] { ["--cache", bench["cache"]] }

  private func cache(_ arguments: [String]) throws -> Tool.End { try Tool.run(["cache"] + arguments + place) }

  /// How many more requests a fetch of the numbers takes.
  private func asked(_ numbers: Range<Int>) throws -> Int {
    let before = bench.origin.requestCount
    #expect(try Tool.run(["fetch", try bench.writeList(numbers), "--quiet"] + place).exit == .status(0))
    return bench.origin.requestCount - before
  }

  @Test func `stats tell where it is and what it holds`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    let text = try cache(["stats"])
    #expect(text.exit == .status(0))
    #expect(text.output.hasPrefix("cache\n  directory  \(bench["cache"])\n  entries    12\n  in use     "))
    let json = try cache(["stats", "--json"])
    #expect(json.output.hasPrefix(#"{"cache":{"directory":"\#(bench["cache"])","entries":12,"inUseBytes":"#))
    let bytes = (0..<12).reduce(0) { $0 + ToolBench.body($1).count }
    #expect(try #require(json.output.integer("inUseBytes")) >= bytes)
    #expect(try #require(json.output.integer("fileBytes")) >= bytes)
  }

  @Test func `a cache that is not there is empty and stays away`() throws {
    #expect(try cache(["stats", "--json"]).output.contains(#""entries":0"#))
    #expect(try cache(["empty"]).output == "removed 0 entries\n")
    #expect(try cache(["remove", "http://h/"]).output == "removed 0 entries\n")
    #expect(FileFacts(path: bench["cache"]) == nil)
  }

  @Test func `what is removed is asked for again`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    let url = bench.origin.url("/3")
    #expect(try cache(["remove", url, bench.origin.url("/nothing")]).output == "removed 1 entry\n")
    #expect(try asked(0..<12) == 1)
    // 1, 10 and 11
    #expect(try cache(["remove", "--prefix", bench.origin.url("/1")]).output == "removed 3 entries\n")
    #expect(try asked(0..<12) == 3)
    #expect(try cache(["empty"]).output == "removed 12 entries\n")
    #expect(try asked(0..<12) == 12)
  }

  @Test func `looking never evicts`() throws {
    bench.serveFresh(0..<12)
    #expect(try asked(0..<12) == 12)
    for arguments in [["stats"], ["remove", bench.origin.url("/none")]] {
      #expect(try cache(arguments).exit == .status(0))
    }
    #expect(try asked(0..<12) == 0)
  }

  @Test(arguments: [["remove"], ["remove", "h"], ["remove", "ftp://h/"], ["stats", "x"], ["shrink"]])
  func `wrong command lines are usage errors`(arguments: [String]) throws {
    #expect(try Tool.run(["cache"] + arguments).exit == .status(64))
  }

  @Test(arguments: [["stats"], ["empty"], ["remove", "http://h/"]])
  func `a cache that cannot be used is a local error`(arguments: [String]) throws {
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    #expect(unsafe chmod(bench["cache"], 0o777) == 0)
    let end = try cache(arguments)
    #expect(end.exit == .status(74))
    #expect(end.errors.hasPrefix("netspool: cannot use the cache in \(bench["cache"]): "))
    #expect(!end.errors.contains("--no-cache"))
  }

  @Test(arguments: [["stats"], ["empty"], ["remove", "http://h/"]])
  func `a file in its place is a local error`(arguments: [String]) throws {
    _ = try bench.write("cache", ["not a directory"])
    let end = try cache(arguments)
    #expect(end.exit == .status(74))
    #expect(end.errors == "netspool: cannot use the cache in \(bench["cache"]): it is no directory\n")
  }

  @Test(arguments: [["stats"], ["empty"], ["remove", "http://h/"]])
  func `a cache that is another user's is no empty one`(arguments: [String]) throws {
    guard geteuid() == 0 else { return }
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups", try Tool.path(), "cache"]
    let end = try Tool.run(other + arguments + place, program: "/usr/bin/setpriv")
    #expect(end.exit == .status(74) && end.output.isEmpty)
    #expect(end.errors == "netspool: cannot use the cache in \(bench["cache"]): it is another user's\n")
  }

  @Test func `get uses the cache only when told`() throws {
    bench.serveFresh(0..<1)
    let url = bench.origin.url("/0")
    for _ in 0..<2 { #expect(try Tool.run(["get", url, "-o", bench["a"]]).exit == .status(0)) }
    #expect(bench.origin.requestCount == 2)
    let environment = ["XDG_CACHE_HOME=\(bench["home"])"]
    for arguments in [["--cached"], place] {
      for _ in 0..<2 {
        let end = try Tool.run(["get", url, "-v", "-o", bench["b"]] + arguments, environment: environment)
        #expect(end.exit == .status(0))
        #expect(bench.read("b") == ToolBench.body(0))
      }
    }
    #expect(bench.origin.requestCount == 4)
    let end = try Tool.run(["get", url, "-v", "--cached"], environment: environment)
    #expect(end.errors.contains("* from the cache, "))
    #expect(end.errors.contains("< Age: "))
  }

  @Test func `get says when the origin confirmed`() throws {
    bench.serveTagged(0..<1, "no-cache")
    let arguments = ["get", bench.origin.url("/0"), "-v", "-o", bench["a"]] + place
    #expect(try !Tool.run(arguments).errors.contains("from the cache"))
    #expect(try Tool.run(arguments).errors.contains("* from the cache, confirmed by the origin"))
    #expect(bench.read("a") == ToolBench.body(0))
  }

  @Test func `a cache that cannot be used ends a get`() throws {
    try bench.write("cache", [])
    #expect(try Tool.run(["get", bench.origin.url("/0")] + place).exit == .status(74))
    #expect(bench.origin.requestCount == 0)
  }

  @Test func `doctor shows the cache`() throws {
    let before = try Tool.run(["doctor"] + place)
    #expect(before.output.contains("  cache           \(bench["cache"])\n"))
    #expect(before.output.contains("  cache file      not there yet\n"))
    #expect(FileFacts(path: bench["cache"]) == nil)
    bench.serveFresh(0..<1)
    #expect(try asked(0..<1) == 1)
    let json = try Tool.run(["doctor", "--json"] + place)
    #expect(json.output.contains(#""cache":"\#(bench["cache"])""#))
    #expect(json.output.integer("cacheFileBytes") == CacheFiles.bytes(in: bench["cache"]))
    #expect(json.output.contains(#""cacheSizeBytes":1073741824,"cachedBodyBytes":16777216"#))
  }
}
