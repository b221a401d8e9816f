import ArgumentParser
import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite(.ownThreads) struct FetchRunTests {
  private let scratch: TestFolder
  private let fetcher = GateFetcher()

  init() throws { scratch = try TestFolder() }

  private func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: JobStatus, messages: String) {
    var messages = ""
    let run = FetchRun(
      options: try FetchCommand.parse(arguments),
      console: Console(isTerminal: false) { messages += $0 },
      environment: Environment(environment), arguments: ["fetch"] + arguments, stop: StopSwitch(),
      reactor: StepReactor())
    return (run.run { _, _ in fetcher }, messages)
  }

  @Test func `runs a list to its end`() throws {
    let list = try scratch.write("list", "http://h/1\nhttp://h/2\nhttp://h/3\n")
    fetcher.answer = { $0.id == 1 ? .status(404) : .ok(1_024, .cache) }
    let (status, messages) = try run([
      list, "--output", scratch["a/b"], "--results", scratch["r"], "--failed", scratch["f"],
    ])
    #expect(status == .failedForGood)
    #expect(fetcher.started.map(\.output) == ["1", "2", "3"])
    #expect(FileFacts(path: scratch["a/b"]) != nil)
    #expect(messages.contains("done: 2 (2 from the cache), 2.0 KiB"))
    #expect(messages.contains("failed: 1 for good (status 404: 1)"))
    #expect(try scratch.text("f") == "http://h/2\t2\n")
  }

  @Test func `a second run with resume tries only the failed`() throws {
    let list = try scratch.write("list", "http://h/1\nhttp://h/2\nhttp://h/3\n")
    fetcher.answer = { $0.url.hasSuffix("2") ? .status(503) : .ok() }
    let arguments = [list, "--results", scratch["r"]]
    #expect(try run(arguments).status == .failedForNow)
    fetcher.answer = { _ in .ok() }
    #expect(try run(arguments + ["--resume"]).status == .allDone)
    #expect(fetcher.started.map(\.url).last == "http://h/2")
    #expect(fetcher.startCount == 4)
  }

  @Test func `quiet says nothing`() throws {
    fetcher.answer = { _ in .status(404) }
    let (status, messages) = try run(["http://h/1", "--quiet"])
    #expect(status == .failedForGood)
    #expect(messages.isEmpty)
  }

  @Test func `bad files are found before anything is sent`() throws {
    let list = try scratch.write("list", "http://h/1\n")
    let cases: [(arguments: [String], status: JobStatus)] = [
      ([scratch["missing"]], .localIO), ([list, "--output", list], .localIO),
      ([list, "--results", scratch["no/folder"]], .localIO), ([list, "--failed", scratch.path], .localIO),
      ([list, "--failed", list], .usage), ([list, "--results", list], .usage),
      ([list, "--failed", scratch["q"], "--results", scratch["q"]], .usage),
      ([list, "--har", scratch["q"], "--results", scratch["./q"]], .usage),
      ([list, "--output", scratch["x.tar"], "--results", scratch["x.tar"]], .usage),
    ]
    for (arguments, status) in cases {
      let end = try run(arguments)
      #expect(end.status == status, "\(arguments)")
      #expect(end.messages.hasPrefix("netspool: "))
    }
    #expect(fetcher.startCount == 0)
    #expect(try scratch.text("list") == "http://h/1\n")
    #expect(!scratch.names.contains("q") && !scratch.names.contains("x.tar"))
  }

  @Test func `shards of a shared folder never share a name`() throws {
    let urls = (0..<200).map { "http://h/\($0 % 40)/\($0)/x.png" }
    let list = try scratch.write("list", urls.joined(separator: "\n"))
    for index in 0..<4 {
      _ = try run(
        [list, "--output", scratch["out"], "--quiet"],
        environment: ["JOB_COMPLETION_INDEX": "\(index)", "NETSPOOL_SHARDS": "4"])
    }
    #expect(Set(fetcher.started.compactMap(\.output)).count == 200)
    #expect(Set(fetcher.started.map(\.url)) == Set(urls))
    #expect(fetcher.startCount == 200)
  }

  @Test func `a half-set shard is a usage error`() throws {
    let (status, messages) = try run(["http://h/1"], environment: ["NETSPOOL_SHARDS": "4"])
    #expect(status == .usage)
    #expect(messages.contains("--shard I/4"))
  }

  @Test func `the option beats the scheduler`() throws {
    let variables = ["JOB_COMPLETION_INDEX": "9", "NETSPOOL_SHARDS": "4"]
    #expect(try run(["http://h/1", "--shard", "0/1"], environment: variables).status == .allDone)
  }
}
