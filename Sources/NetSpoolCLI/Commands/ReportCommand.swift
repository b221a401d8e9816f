import ArgumentParser

/// `netspool report`: what can be done with results files.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Work with the results files of fetch.",
    subcommands: [ReportMergeCommand.self])
}

/// `netspool report merge A.jsonl B.jsonl`.
struct ReportMergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Join results files, of shards or of repeated runs, and print the totals.",
    discussion: """
      Of several results for one URL and output name the last one counts, in the order of the files as they \
      are given. Lines that are no results are counted and left out. Memory does not grow with the files.
      """)

  @Argument(help: ArgumentHelp("Results files.", valueName: "x.jsonl"), completion: .file())
  var files: [String]

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write the results that count to this file, not to standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp("Write the lines that are not done to this file, as a list.", valueName: "x.txt"),
    completion: .file())
  var failed: String?

  @Flag(help: "Print the totals as JSON on standard output, and the results only where --output says so.")
  var json = false

  func validate() throws {
    let inputs = files.compactMap(FileFacts.init(path:))
    for path in [output, failed] {
      guard let path, let status = FileFacts(path: path) else { continue }
      if inputs.contains(where: status.isSameFile) {
        throw ValidationError("'\(path)' is also one of the files to merge; it would be overwritten.")
      }
    }
    if let sentence = NamedOutput.clash([NamedOutput("--output", output), NamedOutput("--failed", failed)]) {
      throw ValidationError(sentence + ".")
    }
    if [output == "-", failed == "-", json].count(where: { $0 }) > 1 {
      throw ValidationError("Only one of --output -, --failed - and --json can have standard output.")
    }
  }

  func run() throws {
    do throws(IOFailure) {
      try merge()
    } catch {
      Console.standardError().message("netspool: \(error)")
      throw ExitCode(JobStatus.localIO.code)
    }
  }

  private func merge() throws(IOFailure) {
    let directory = Ledger.temporaryDirectory(.process)
    let merge = ReportMerge(paths: files, ledger: Ledger(directory: directory))
    let totals = try merge.run(
      merged: try (output ?? (json || failed == "-" ? nil : "-")).map { path throws(IOFailure) in
        try OutputFile.create(path)
      },
      failed: try failed.map { path throws(IOFailure) in FailedWriter(try OutputFile.create(path)) })
    try Self.print(totals, json: json)
  }

  private static func print(_ totals: ReportMerge.Totals, json: Bool) throws(IOFailure) {
    if json {
      let output = try OutputFile.create("-")
      try output.write(totals.summary.json(exitStatus: totals.summary.exitStatus))
      try output.flush()
    } else {
      Console.standardError().message(totals.text)
    }
  }
}
