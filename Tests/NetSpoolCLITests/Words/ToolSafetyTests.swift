import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What a list, an origin or a second process must not do to the user's files and terminal.
@Suite(.ownThreads) struct ToolSafetyTests {
  private let bench: ToolBench

  init() throws { bench = try ToolBench() }

  @Test func `no URL overwrites the list or the results`() throws {
    let names = ["list", "results", "failed", "other"]
    for name in names { bench.origin.on("/\(name)", .text("from the network")) }
    #expect(unsafe mkdir(bench["out"], 0o700) == 0)
    try bench.write("out/list", names.map { "{u}/\($0)" })
    try bench.fetch("out/list --output out --results out/results --failed out/failed").expect(status: 0)
    #expect(bench.text("out/list")?.contains("/other\n") == true)
    #expect(try bench.results("out/results").count == 4)
    #expect(bench.text("out/failed") == "")
    for name in ["list-1", "results-1", "failed-1", "other"] {
      #expect(bench.text("out/\(name)") == "from the network", "\(name)")
    }
  }

  @Test func `no name leads out of the folder by a link`() throws {
    bench.origin.on("/0", .text("from the network"))
    for folder in ["out", "outside"] { #expect(unsafe mkdir(bench[folder], 0o700) == 0) }
    try bench.write("outside/kept", ["kept"])
    #expect(unsafe symlink(bench["outside"], bench["out/link"]) == 0)
    try bench.write("list", ["{u}/0\tlink/kept"])
    #expect(try bench.fetch("list --output out").exit != .status(0))
    #expect(bench.text("outside/kept") == "kept\n")
  }

  @Test func `nothing that steers a terminal reaches it`() throws {
    try bench.write("list", ["http://127.0.0.1:1/\u{9B}2J\u{202E}gpj", "\u{1B}[2J"])
    let end = try bench.fetch("list --retry 0 --results r --json")
    for text in [end.errors, end.output, bench.text("r") ?? ""] {
      #expect(
        !text.unicodeScalars.contains { HumanText.isHarmful($0) && $0 != "\n" }, "\(text.debugDescription)")
    }
    #expect(try bench.results("r").first?.url == "http://127.0.0.1:1/\u{9B}2J\u{202E}gpj")
  }

  @Test func `messages show no secret of a URL, and files are their owner's`() throws {
    try bench.write("list", ["http://ann:pl4nted@127.0.0.1:1/?token=pl4nted"])
    // Also one that was there.
    try bench.write("r", ["old"])
    #expect(unsafe chmod(bench["r"], 0o666) == 0)
    let end = try bench.fetch("list --retry 0 --results r --failed f")
    #expect(end.errors.contains("failed: http") && !end.errors.contains("pl4nted"), "\(end.errors)")
    for name in ["r", "f"] { #expect(TestFiles.mode(bench[name]) == S_IFREG | 0o600, "\(name)") }
  }
}
