import ArgumentParser
import NetSpool

/// The program: its commands, and nothing else.
@main
struct NetSpoolTool: ParsableCommand {
  /// Goes into `--version` and the `User-Agent`.
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "netspool", abstract: "Fetch from one URL to millions of them.",
    discussion: """
      Exit status: 0 all done, 1 some failed for good, 2 some failed for now (run again), 3 stopped by \
      --max-errors, 64 usage, 74 a local file could not be read or written, 130 and 143 stopped by a signal.
      """,
    version: version,
    subcommands: [
      FetchCommand.self, GetCommand.self, PostCommand.self, FrozenCommand.self, CacheCommand.self,
      DemoCommand.self, DoctorCommand.self, ReportCommand.self,
    ])

  static func main() {
    _ = NetworkQueue.shared  // sees to missing standard descriptors, before a file gets one of their numbers
    main(nil)
  }
}
