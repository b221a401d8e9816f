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
      options: try FetchCommand.parse(arguments), console: Console(isTerminal: false) { messages += $0 },
      environment: Environment(environment), arguments: ["fetch"] + arguments, stop: StopSwitch(),
      reactor: StepReactor())
    return (run.run { _, _ in fetcher }, messages)
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
}
