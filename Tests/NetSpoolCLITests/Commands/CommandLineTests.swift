import ArgumentParser
import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct CommandLineTests {
  @Test func `every fetch option is understood`() throws {
    let options = try FetchCommand.parse([
      "list.txt", "http://h/", "-", "--output", "out", "--jobs", "8", "--per-origin", "2", "--rate", "50/s",
      "--limit-rate", "2M", "--timeout", "30s", "--retry", "5", "--max-errors", "5%", "--checksum",
      "--header", "A: b", "--header", "C:d", "--user-agent", "me", "--progress", "lines",
      "--quiet", "--results", "r.jsonl", "--failed", "f.txt", "--resume", "--json", "--shard", "1/4",
      "--images-only", "--cache", "c", "--cache-size", "2G", "--rules", "relaxed",
    ])
    #expect(options.sources == ["list.txt", "http://h/", "-"])
    #expect(options.jobs == .fixed(8))
    #expect(options.maxErrors == .percent(5))
    #expect(
      options.request.header == [
        .field(HeaderField(name: "A", value: "b")), .field(HeaderField(name: "C", value: "d")),
      ])
    #expect(options.request.timeout?.span?.seconds == 30)
    #expect(options.shard == Shard(index: 1, count: 4))
    #expect(options.imagesOnly)
    let cache = try #require(try options.cache.settings(Environment([:])))
    #expect(cache.directory == "c")
    #expect(cache.bytesMax == 2 << 30)
    #expect(options.cache.rules == .relaxed)
  }

  @Test(arguments: [
    [], ["-", "-"], ["l", "--jobs", "0"], ["l", "--jobs", "many"], ["l", "--per-origin", "0"],
    ["l", "--rate", "x"], ["l", "--limit-rate", "-1"], ["l", "--timeout", "x"], ["l", "--retry", "-1"],
    ["l", "--max-errors", "x"], ["l", "--header", "no colon"], ["l", "--header", "A: b\r\nC: d"],
    ["l", "--header", "A b: c"], ["l", "--user-agent", "a\nb"],
    ["l", "--progress", "sometimes"], ["l", "--resume"], ["l", "--resume", "--results", "-"],
    ["l", "--cache-size", "1000k"], ["l", "--cache-size", "x"], ["l", "--rules", "lax"],
    ["l", "--cache", ""], ["l", "--no-cache", "--cache", "c"], ["l", "--no-cache", "--cache-size", "1G"],
    ["l", "--no-cache", "--rules", "relaxed"], ["l", "--shard", "4/4"], ["l", "--checksum"],
    ["l", "--json", "--dry-run"], ["l", "--nonsense"], ["l", "--format", "png"], ["l", "--fit", "cover"],
  ])
  func `a wrong command line is a usage error`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try FetchCommand.parse(arguments) }
    #expect(error.map { FetchCommand.exitCode(for: $0).rawValue } == 64)
  }

  @Test(arguments: [
    "Authorization Bearer hidden", "hidden", "X-Key: a\nhidden", "X Key hidden: a", "Cookie;hidden",
  ])
  func `a header that is none is not shown`(field: String) {
    for command in [FetchCommand.self, FrozenThawCommand.self] as [any ParsableCommand.Type] {
      let words = command == FetchCommand.self ? ["l"] : []
      let error = #expect(throws: (any Error).self) { try command.parse(words + ["--header=\(field)"]) }
      let text = error.map { command.fullMessage(for: $0) } ?? "hidden"
      #expect(!text.contains("hidden") && text.contains("--header '"), "\(text)")
    }
  }

  @Test func `a header that is none is named by its first word`() {
    let error = #expect(throws: (any Error).self) {
      try GetCommand.parse(["http://h/", "--header=Cookie a=b"])
    }
    #expect(
      error.map { GetCommand.message(for: $0) }
        == "--header 'Cookie •••' has no colon behind the name: it is 'Name: value'.")
  }

  @Test func `a refusal is a sentence`() {
    let error = #expect(throws: (any Error).self) { try FetchCommand.parse(["list", "--resume"]) }
    #expect(
      error.map { FetchCommand.message(for: $0) } == "--resume needs --results: that file says what is done.")
  }

  @Test func `the command that resumes can be pasted`() throws {
    let arguments = ["fetch", "my list.txt", "--results", "r.jsonl", "--header", "A: it's"]
    let options = try FetchCommand.parse(Array(arguments.dropFirst()))
    #expect(
      ResumeCommand.text(arguments, options)
        == "netspool fetch 'my list.txt' --results r.jsonl --header 'A: it'\\''s' --resume")
  }

  @Test(
    arguments: [
      (["list", "-o", "out"], [], true, "list -o out --skip-existing"),
      (["list", "-o", "out"], [], false, "list -o out"),
      (["list", "-o", "x.tar"], [], true, "list -o x.tar"),
      (["-o", "out", "--", "list"], [], true, "-o out --skip-existing -- list"),
      (["list", "-o", "out", "--newer"], [], true, "list -o out --newer"),
      (["list", "-o", "out", "--results", "r"], [], true, "list -o out --results r --resume"),
      (["http://h/1", "http://h/2"], ["http://h/1"], false, "http://h/2"),
      (["http://h/1", "http://h/2", "-o", "d"], ["http://h/1"], true, "http://h/2 -o d --skip-existing"),
      (["http://h/a", "http://i/a", "-o", "d"], ["http://h/a"], false, "http://h/a http://i/a -o d"),
      (["http://h/1"], ["http://h/1"], false, "http://h/1"),
    ] as [([String], Set<String>, Bool, String)])
  func `the command that goes on fetches nothing again`(
    arguments: [String], done: Set<String>, isFresh: Bool, text: String
  ) throws {
    let options = try FetchCommand.parse(arguments)
    #expect(
      ResumeCommand.text(["fetch"] + arguments, options, done: done, isFresh: isFresh)
        == "netspool fetch \(text)")
  }

  /// A log may show it.
  @Test(
    arguments: [
      (["-u", "me:SECRET", "l"], "-u 'me:•••' l"), (["-ume:SECRET", "l"], "'-ume:•••' l"),
      (["--user=me:SECRET", "l"], "'--user=me:•••' l"), (["-qu", "me:SECRET", "l"], "-q -u 'me:•••' l"),
      (["l", "-H", "Authorization: Bearer SECRET"], "l -H 'Authorization: •••'"),
      (["l", "-sHX-Api-Key:SECRET"], "l -s '-HX-Api-Key: •••'"), (["l", "-H", "X: y"], "l -H 'X: y'"),
      (["l", "-H", "@fields"], "l -H @fields"),
      (["l", "--header", "Cookie: a=SECRET"], "l --header 'Cookie: •••'"),
      (["l", "-x", "http://u:SECRET@p:1", "-U", "u:SECRET"], "l -x 'http://•••@p:1' -U 'u:•••'"),
      (["l", "-x", "u:SECRET@p:1"], "l -x '•••@p:1'"),
      (["l", "--oauth2-bearer", "SECRET"], "l --oauth2-bearer '•••'"),
      (["l", "-E", "c.pem:SECRET", "--key", "k"], "l -E 'c.pem:•••' --key k"),
      (["l", "--cert", "c.pem", "--pass=SECRET"], "l --cert c.pem '--pass=•••'"),
      (["l", "-e", "http://h/?token=SECRET"], "l -e 'http://h/?token=•••'"),
      (["http://u:SECRET@h/?sig=SECRET&a=b"], "'http://•••@h/?sig=•••&a=b'"),
      (["--", "http://h/?token=SECRET"], "-- 'http://h/?token=•••'"), (["l", "--json", "-q"], "l --json -q"),
    ] as [([String], String)])
  func `the command that goes on holds no secrets`(arguments: [String], text: String) throws {
    let words = CommandWords.canonical(["fetch"] + arguments)
    let options = try FetchCommand.parse(Array(words.dropFirst()))
    #expect(ResumeCommand.text(["fetch"] + arguments, options) == "netspool fetch \(text)")
  }

  @Test func `the first screen of help has what everybody needs`() {
    let lines = FetchCommand.helpMessage(columns: 80).split(separator: "\n", omittingEmptySubsequences: false)
    for option in ["--output", "--results", "--resume", "--failed", "--jobs"] {
      #expect(lines.prefix(45).contains { $0.hasPrefix("  ") && $0.contains("\(option) ") }, "\(option)")
    }
    for option in ["--shard", "--max-errors", "--limit-rate"] {
      #expect(lines.contains { $0.contains(option) }, "\(option)")
    }
  }
}

@Suite struct PermanenceTests {
  @Test(
    arguments: [
      (404, .forGood), (410, .forGood), (401, .forGood), (408, .forNow), (425, .forNow), (429, .forNow),
      (500, .forNow), (501, .forGood), (502, .forNow), (503, .forNow), (504, .forNow), (505, .forGood),
      (511, .forGood), (599, .forNow),
    ] as [(Int, FetchOutcome.Permanence)])
  func `statuses are sorted`(status: Int, permanence: FetchOutcome.Permanence) {
    #expect(FetchOutcome.Permanence(.status, status: status) == permanence)
  }

  @Test(
    arguments: [
      (.timedOut, .forNow), (.offline, .forNow), (.connectFailed, .forNow), (.invalidURL, .forGood),
      (.tlsRejected, .forGood), (.notCached, .forGood), (.sinkFailed, .local(errno: 28)),
    ] as [(NetworkError.Code, FetchOutcome.Permanence)])
  func `codes are sorted`(code: NetworkError.Code, permanence: FetchOutcome.Permanence) {
    #expect(FetchOutcome.Permanence(code, errno: 28) == permanence)
  }
}
