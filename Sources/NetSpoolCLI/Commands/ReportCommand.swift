import ArgumentParser

/// `netspool report`: what can be done with results files.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Work with the results files of fetch.",
    subcommands: [ReportMergeCommand.self])
}

struct ReportMergeCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Join results files, of shards or of repeated runs, and print the totals.",
    discussion: """
      Of several results for one URL and output name the last one counts, in the order of the files as they \
      are given. Lines that are no results are counted and left out. Memory does not grow with the files.
      """)

  @Argument(help: ArgumentHelp("Results files.", valueName: "x.jsonl"), completion: .file()) var files:
    [String]

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write the results that count to this file, not to standard output.", valueName: "file"),
    completion: .file()) var output: String?

  @Option(
    help: ArgumentHelp("Write the lines that are not done to this file, as a list.", valueName: "x.txt"),
    completion: .file()) var failed: String?

  @Flag(help: "Print the totals as JSON on standard output, and the results only where --output says so.")
  var json = false

  func validate() throws {
    let inputs = files.compactMap { FileFacts(path: $0) }
    for path in [output, failed] {
      guard let path, let status = FileFacts(path: path) else { continue }
      try refuse(
        inputs.contains(where: status.isSameFile),
        "'\(path)' is also one of the files to merge; it would be overwritten.")
    }
    let clash = NamedOutput.clash([NamedOutput("--output", output), NamedOutput("--failed", failed)])
    if let clash { throw ValidationError(clash + ".") }
    try refuse(
      [output == "-", failed == "-", json].count { $0 } > 1,
      "Only one of --output -, --failed - and --json can have standard output.")
  }

  func run(_ console: Console) throws -> JobStatus {
    let merge = ReportMerge(paths: files, ledger: Ledger(directory: Ledger.temporaryDirectory(.process)))
    let totals = try merge.run(merged: output ?? (json || failed == "-" ? nil : "-"), failed: failed)
    let json = json ? totals.summary.json(exitStatus: totals.summary.exitStatus) : nil
    if let json { try StandardOutput.write(json) } else { console.message(totals.text) }
    return .allDone
  }
}
