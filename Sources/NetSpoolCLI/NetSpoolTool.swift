import ArgumentParser
import NetSpool

/// The program: its commands, and nothing else.
@main
struct NetSpoolTool: ParsableCommand {
  /// Goes into `--version` and the `User-Agent`.
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "netspool", abstract: "Fetch URLs, from one to millions, and send what must arrive.",
    discussion: """
      Examples:
        netspool fetch list.txt -o pictures --results done.jsonl
        netspool get -O https://example.org/disk.img
        netspool post https://example.org/notes -d 'text=hello' --freeze

      Exit status: 0 all done, 1 some failed for good, 2 some failed for now (run again), 3 stopped by \
      --max-errors, 64 usage, 74 a local file could not be read or written, 130 and 143 stopped by a signal.
      """,
    version: version,
    subcommands: [
      FetchCommand.self, GetCommand.self, PostCommand.self, FrozenCommand.self, CacheCommand.self,
      DemoCommand.self, DoctorCommand.self, ReportCommand.self, SchemaCommand.self,
    ] + helpers)

  /// What the tool starts itself.
  private static var helpers: [any ParsableCommand.Type] {
    #if Images
    [DecodePicturesCommand.self]
    #else
    []
    #endif
  }

  static func main() {
    _ = NetworkQueue.shared  // sees to missing standard descriptors, before a file gets one of their numbers
    let words = Array(CommandLine.arguments.dropFirst())
    if let sentence = mistaken(words) {
      Console.standardError().message("netspool: \(sentence)")
      exit(withError: ExitCode(JobStatus.usage.code))
    }
    do {
      main(CommandWords.canonical(try ConfigFile.completed(words, .process)))
    } catch {
      Console.standardError().message("netspool: \(error)")
      exit(withError: ExitCode(JobStatus.usage.code))
    }
  }

  /// What is wrong with the first word, which is a command; nil when nothing is.
  static func mistaken(_ words: [String]) -> String? {
    guard let word = words.first, !word.hasPrefix("-") else { return nil }
    let commands = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    if commands.contains(word) { return nil }
    if word.contains("://") || word.contains(".") {
      return "which command? 'netspool get \(URLText.masked(word))' fetches one URL, 'netspool fetch' a list"
    }
    let meant = Suggestion.nearest(to: word, in: commands).map { "; did you mean '\($0)'?" }
    return "there is no command '\(word)'\(meant ?? "; 'netspool --help' lists them")"
  }
}
