import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// The scripts of `examples/` on this machine: shards of a list, and their results joined.
@Suite(.ownThreads) struct ExampleScriptTests {
  private let bench: ToolBench

  init() throws {
    bench = try ToolBench()
    bench.serve(0..<40)
  }

  private func run(_ script: String, _ arguments: [String], _ environment: [String] = []) throws -> Tool.End {
    try Tool.run(
      ["\(TestFiles.examples)/\(script)"] + arguments, program: "/bin/bash",
      environment: ["NETSPOOL=\(try Tool.path())", "TMPDIR=\(bench["."])"] + environment)
  }

  @Test func `parallel shards fetch a list and join their results`() throws {
    let list = try bench.writeList(0..<42)  // two are not there
    try run("parallel/fetch", [list, "4", bench["o"], "--retry", "0"]).expect(status: 1)
    #expect(bench.wrong(0..<40, in: "o/bodies").isEmpty)
    #expect(try bench.results("o/results.jsonl").count { $0.end.ending == .done } == 40)
    #expect(
      bench.text("o/failed.txt")?.split(separator: "\n").count == 2
        && (0..<4).allSatisfy { bench.read("o/results/\($0).jsonl") != nil })
    // Once more asks only for the two
    let before = bench.origin.requestCount
    #expect(try run("parallel/fetch", [list, "4", bench["o"], "--retry", "0"]).exit == .status(1))
    #expect(bench.origin.requestCount == before + 2)
  }

  @Test func `tasks of a Slurm array share a list, and another task joins their results`() throws {
    let list = try bench.writeList(0..<40)
    for task in 0..<3 {
      try run(
        "slurm/fetch.sbatch", [list, bench["o"]],
        ["SLURM_ARRAY_TASK_ID=\(task)", "SLURM_ARRAY_TASK_COUNT=3"]
      ).expect(status: 0)
    }
    #expect(bench.origin.requestCount == 40 && bench.wrong(0..<40, in: "o/bodies").isEmpty)
    #expect(try run("slurm/merge.sbatch", [bench["o"]]).exit == .status(0))
    #expect(try bench.results("o/results.jsonl").count == 40 && bench.text("o/failed.txt") == "")
  }

  /// What the pods of `kubernetes/fetch.yaml` run, with their folders put elsewhere.
  @Test func `pods of an Indexed Job share a list`() throws {
    let list = try bench.writeList(0..<40)
    let manifest = try TestFiles.text("\(TestFiles.examples)/kubernetes/fetch.yaml")
    // Folded, as YAML's `>-` has it.
    let lines = manifest.split(separator: "\n").map { $0.drop { $0 == " " } }
    let start = try #require(lines.firstIndex(of: "- >-"))
    let command = lines[(start + 1)...].prefix { !$0.hasPrefix("env:") }.joined(separator: " ")
      .replacing("/list/list.txt", with: list).replacing("/out", with: bench["out"])
    for pod in 0..<2 {
      let own = command.replacing("/cache", with: bench["cache\(pod)"])
        .replacing("exec netspool", with: "exec \(try Tool.path())")
      let environment = ["JOB_COMPLETION_INDEX=\(pod)", "NETSPOOL_SHARDS=2"]
      try Tool.run(["-c", own], program: "/bin/sh", environment: environment).expect(status: 0)
    }
    #expect(bench.origin.requestCount == 40 && bench.wrong(0..<40, in: "out/bodies").isEmpty)
  }

  @Test(arguments: [
    ("parallel/fetch", ["list"], "usage"),
    ("parallel/fetch", ["/nothing", "2", "o"], "cannot read the list"),
    ("parallel/fetch", ["/dev/null", "0", "o"], "N is a number"),
    ("slurm/submit", ["/dev/null", "2", "o"], "sbatch"),
    ("slurm/fetch.sbatch", ["/dev/null"], "usage"), ("slurm/merge.sbatch", [], "usage"),
  ]) func `a mistake is told in one sentence`(script: String, arguments: [String], words: String) throws {
    let end = try run(script, arguments).expect(status: 64, saying: words)
    #expect(end.errors.split(separator: "\n").count == 1, "\(end)")
  }
}
