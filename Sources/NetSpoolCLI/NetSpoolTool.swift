import ArgumentParser
import Glibc
import NetSpool
import Synchronization

@main struct NetSpoolTool: ParsableCommand {
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
      """, version: version,
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
    StandardOutput.stayClosed()
    signal(SIGXFSZ, SIG_IGN)  // a limit for the length of files is an error (EFBIG), not a death
    _ = NetworkQueue.shared  // sees to missing standard descriptors, before a file gets one of their numbers
    let words = Array(CommandLine.arguments.dropFirst())
    if let sentence = mistaken(words) { fail(sentence, .usage) }
    do { try run(words) } catch { end(error) }
  }

  /// Runs the command lines that `--next` divides, one after the other; the first that fails gives the status.
  private static func run(_ words: [String]) throws {
    let parts: [[String]]
    do { parts = try CommandWords.parts(ConfigFile.included(words)) } catch {
      fail("\(error)", .status(of: error))
    }
    var first = ExitCode.success
    for part in parts {
      do {
        var command = try command(part)
        try command.run()
      } catch let code as ExitCode {
        if first == .success { first = code }
        if code.rawValue > 128 { break }
      }
    }
    throw first
  }

  /// The command that a command line and the configuration file ask for. A value of the file that is wrong is told with its
  /// line, as the user does not find it on the command line.
  private static func command(_ words: [String]) throws -> any ParsableCommand {
    let whole: [String]
    do { whole = try ConfigFile.completed(words, .process) } catch { fail("\(error)", .status(of: error)) }
    Self.words.withLock { $0 = whole }
    do {
      let command = try parseAsRoot(CommandWords.canonical(whole))
      if let sentence = (command as? PostCommand)?.contradiction(words) { fail(sentence, .usage) }
      return command
    } catch {
      if exitCode(for: error).isSuccess { throw error }
      if let sentence = CommandWords.unknownLetter(whole) ?? unknownOption(CommandWords.canonical(whole)) {
        fail(sentence, .usage)
      }
      let place = ConfigFile.culprit(words, .process) { words in
        (try? parseAsRoot(CommandWords.canonical(words))) != nil
      }
      if let place { fail("\(place): \(message(for: error))", .usage) }
      throw error
    }
  }

  /// The words of the command that runs, with what files add to them.
  static let words = Mutex<[String]>([])

  private static func fail(_ sentence: String, _ status: JobStatus) -> Never {
    Console.standardError().message("netspool: \(sentence)")
    exit(withError: ExitCode(status.code))
  }

  /// Help, versions and scripts go to standard output, and it is told when they cannot; the parser would not say so.
  private static func end(_ error: any Error) -> Never {
    let (text, code) = (fullMessage(for: error), exitCode(for: error))
    if text.isEmpty { exit(withError: code) }
    guard code.isSuccess else {
      let prefix = "Error: "
      Console.standardError().message(
        text.hasPrefix(prefix) ? "netspool: \(text.dropFirst(prefix.count))" : text)
      exit(withError: code)
    }
    do throws(IOFailure) { try StandardOutput.write(Array("\(text)\n".utf8)) } catch {
      fail("\(error)", .localIO)
    }
    exit(withError: nil)
  }

  /// What is wrong with the first words, which are commands; nil when nothing is.
  static func mistaken(_ words: [String]) -> String? {
    if let word = words.first, !word.hasPrefix("-"), word.contains("://") || word.contains(".") {
      return "which command? 'netspool get \(URLText.masked(word))' fetches one URL, 'netspool fetch' a list"
    }
    return unknown(words.first == "help" ? words.dropFirst() : words[...], in: Self.self, after: [])
  }

  /// The parser's own suggestions pass over what begins as the word does.
  static func unknownOption(_ words: [String]) -> String? {
    var (command, path, rest) = (Self.self as any ParsableCommand.Type, ["netspool"], words[...])
    while let word = rest.first,
      let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
    { (command, path, rest) = (next, path + [word], rest.dropFirst()) }
    // The parser's own is in no help.
    let known = names(command.helpMessage(includeHidden: true, columns: 400)).union([
      "generate-completion-script"
    ])
    for word in rest.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
      let name = String(word.dropFirst(2).prefix { $0 != "=" })
      if known.contains(name) { continue }
      if let reason = OptionTable.refusal(name, of: path.last ?? "") {
        return "--\(name) is not here: \(reason)"
      }
      let begun = known.filter { name.count > 2 && $0.hasPrefix(name) }.min {
        ($0.count, $0) < ($1.count, $1)
      }
      let meant = (begun ?? Suggestion.nearest(to: name, in: known.sorted())).map {
        "; did you mean '--\($0)'?"
      }
      return
        "there is no option '--\(name)'\(meant ?? "; '\(path.joined(separator: " ")) --help' lists them")"
    }
    return nil
  }

  /// `  -o, --output <file>   Write...`: the words that begin with two dashes, before the text.
  private static func names(_ help: String) -> Set<String> {
    var names: Set<String> = []
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      for word in line.split(whereSeparator: { " ,/".contains($0) }).prefix(while: { $0.hasPrefix("-") }) {
        if word.hasPrefix("--") { names.insert(String(word.dropFirst(2))) }
      }
    }
    return names
  }

  private static func unknown(
    _ words: ArraySlice<String>, in command: any ParsableCommand.Type, after path: [String]
  ) -> String? {
    let commands = command.configuration.subcommands
    guard let word = words.first, !word.hasPrefix("-"), !commands.isEmpty else { return nil }
    if let next = commands.first(where: { $0.configuration.commandName == word }) {
      return unknown(words.dropFirst(), in: next, after: path + [word])
    }
    let names = commands.compactMap { $0.configuration.commandName } + (path.isEmpty ? ["help"] : [])
    let meant = Suggestion.nearest(to: word, in: names).map { "; did you mean '\($0)'?" }
    let help = (["netspool"] + path + ["--help"]).joined(separator: " ")
    return
      "there is no command '\((path + [word]).joined(separator: " "))'\(meant ?? "; '\(help)' lists them")"
  }
}
