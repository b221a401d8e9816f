import ArgumentParser
import NetSpool

/// `netspool fetch`: a list of URLs through the queue.
struct FetchCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Fetch a list of URLs, of any length, to files or into the cache.",
    discussion: """
      Examples:
        netspool fetch list.txt -o pictures
        netspool fetch list.txt -o pictures --results done.jsonl --resume
        netspool fetch - -o out --jobs 32 --failed again.txt <list.txt
        netspool fetch list.txt -o small --thumbnail 256 --format jpeg
        netspool fetch list.txt -o data.tar --shard-size 10000
        netspool fetch https://example.org/a.iso https://example.org/b.iso -o .

      [001-100] and {a,b} in a URL of the command line make a list of it. A line of a list is a URL, and behind tabs perhaps a name and 'sha256=...', 'priority=high', 'header=Name: v' or \
      'mirror=URL', the next place to ask; or a JSON object with these names; or the line of a CSV file whose first line has them.

      What may be cached is (RFC 9111), so a second run asks only for what is not fresh any more. The first Ctrl-C lets \
      what is under way end, the second quits. Answers to requests with Authorization or Cookie are cached for the run only.
      """)

  @Argument(
    help: ArgumentHelp(
      "Lists, '-' for standard input, or URLs. A list has one URL per line; lines that begin with # are comments.",
      valueName: "list|-|url"), completion: .file()) var sources: [String] = []
  @Option("output", of: "fetch") var output: String?
  @Option("results") var results: String?
  @Flag("resume") var resume = false
  @Option("failed") var failed: String?
  @Option("jobs") var jobs = Jobs.auto
  @Flag("skip-existing") var skipExisting = false
  @Flag("newer") var newer = false
  @Flag("remote-time") var remoteTime = false
  @Option("tree") var tree = OutputTree.flat
  @Option("names") var names = OutputNaming.url
  @Option("shard-size") var shardSize: ShardLimit?
  @Flag("continue", of: "fetch") var continues = true
  @Option("per-origin") var perOrigin: Int?
  @Option("rate") var rate: RateLimiter?
  @Option("per-host-rate") var perHostRate: RateLimiter?
  @Option("max-errors") var maxErrors: ErrorBudget?
  @Flag("images-only") var imagesOnly = false
  @OptionGroup var pictures: ThumbnailOptions
  @Flag("robots") var robots = false
  @Flag("dry-run") var dryRun = false
  @Flag("checksum") var checksum = false
  @Option("har") var har: String?
  @Option("shard") var shard: Shard?
  @Option("progress") var progress = ProgressMode.auto
  @Flag("quiet") var quiet = false
  @Flag("json", of: "fetch") var json = false
  @Flag("globoff") var globoff = false

  // Without titles: titled groups stand before all others in the help, and would hide what everybody needs.
  @OptionGroup var cache: CacheOptions
  @OptionGroup var request: RequestOptions
  @OptionGroup var account: CredentialOptions
  @OptionGroup var cookies: CookieOptions
  @OptionGroup var connection: ConnectionOptions
  @Option("config") var config: [String] = []
  @Flag("no-config") var noConfig = false

  func run(_ console: Console) throws -> JobStatus {
    let stop = StopSwitch.onSignals
    FileLimit.raise()
    return FetchRun(
      options: self, console: console, arguments: Array(CommandLine.arguments.dropFirst()), stop: stop,
      reactor: try PollReactor()
    ).runOnNetwork()
  }

  func validate() throws {
    try refuse(sources.isEmpty, "Nothing to fetch: name a list, URLs, or '-' for standard input.")
    try refuseTwoInputs(sources)
    try refuse(
      !(1...Jobs.countMax).contains(perOrigin ?? 1), "--per-origin is a number from 1 to \(Jobs.countMax).")
    try refuse(
      cookies.cookieJar != nil || !cookies.files.isEmpty,
      "For a list, --cookie is 'name=value', and there is no --cookie-jar.")
    try refuse(
      account.signing?.isWhole == false, "For a list, --aws-sigv4 is whole: 'aws:amz:region:service'.")
    try refuse(pictures.maxSide != nil && robots, "--robots and --thumbnail contradict each other.")
    try refuse(
      pictures.maxSide != nil && (checksum || remoteTime || newer || request.limitRate != nil),
      "--thumbnail goes with none of --checksum, --newer, --remote-time and --limit-rate.")
    try validateFiles()
  }

  /// Bodies go into a tar, not into a folder.
  var writesTar: Bool {
    output.map { $0.hasSuffix(".tar") && FileFacts(path: $0)?.isDirectory != true } ?? false
  }

  var namesLate: Bool { names != .url }

  /// Bodies land elsewhere first.
  var landsBodies: Bool { writesTar || namesLate }

  private func validateTar() throws {
    try refuse(
      namesLate && (output == nil || writesTar || skipExisting || newer || pictures.maxSide != nil),
      "--names header and final need --output DIR, and go with none of --skip-existing, --newer and --thumbnail."
    )
    try refuse(!writesTar && shardSize != nil, "--shard-size needs --output x.tar.")
    try refuse(
      writesTar && (skipExisting || newer),
      "--skip-existing and --newer look at files; what a tar has is not fetched again anyway.")
    if let output, [".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"].contains(where: output.hasSuffix) {
      throw ValidationError("A tar is not compressed: name it x.tar.")
    }
  }

  private func validateFiles() throws {
    try refuse(output == "-", "--output is a folder or a tar; 'netspool get' writes to standard output.")
    try refuse(resume && results == nil, "--resume needs --results: that file says what is done.")
    try refuse(
      resume && results == "-", "--resume cannot read back results from standard output; name a file.")
    try validateTar()
    try refuse(
      output == nil && (skipExisting || newer || remoteTime || tree != .flat),
      "--skip-existing, --newer, --remote-time and --tree need --output.")
    try refuse(namesLate && tree != .flat, "--names header and final know no --tree.")
    try refuse(skipExisting && newer, "--skip-existing leaves out what --newer asks for: name one.")
    try refuse(checksum && output == nil, "--checksum needs --output: it is taken of the files written.")
    let onStandardOutput = [results == "-", failed == "-", har == "-", json, dryRun].count { $0 }
    try refuse(
      onStandardOutput > 1,
      "Only one of --results -, --failed -, --har -, --json and --dry-run can have standard output.")
  }
}

extension FetchRun {
  /// Runs with a real network, which is gone when this returns: with it go half-written files.
  func runOnNetwork() -> JobStatus {
    run { options, folder in
      var cache: CacheConfiguration?
      do { cache = try options.cache.settings(environment) } catch {
        console.message("netspool: \(error); it goes on without a cache")
      }
      return try EngineFetcher(
        options, folder, cache: cache, clock: cacheClock, environment: environment,
        board: isSilent ? nil : board, console: console)
    }
  }
}

/// The command that goes on where a stopped job left off, ready to paste but for its secrets: it may stand in a log.
enum ResumeCommand {
  /// The same command, with `--resume` if there is a results file that says what is done, else with `--skip-existing` if
  /// all files of the folder are the job's. Without either, the same command again finds what it fetched in the cache.
  /// - Parameters:
  ///   - done: URLs of the command line that need not be named again.
  ///   - isFresh: whether nothing was in the output folder when the job began.
  static func text(
    _ arguments: [String], _ options: FetchCommand, done: Set<String> = [], isFresh: Bool = false
  ) -> String {
    var words = ["netspool"] + (mayLeaveOut(done, options) ? without(done, arguments) : arguments)
    // What follows a `--` is no option.
    words.insert(
      contentsOf: addition(options, isFresh: isFresh), at: words.firstIndex(of: "--") ?? words.count)
    return (words.prefix(1) + Secrets.masked(Array(words.dropFirst()))).map(quoted).joined(separator: " ")
  }

  private static func addition(_ options: FetchCommand, isFresh: Bool) -> [String] {
    if options.resume || options.skipExisting { return [] }
    if options.results != nil, options.results != "-" { return ["--resume"] }
    return isFresh && !options.writesTar && !options.newer ? ["--skip-existing"] : []
  }

  /// Not where the name of a file may depend on the URLs before it.
  private static func mayLeaveOut(_ done: Set<String>, _ options: FetchCommand) -> Bool {
    guard !options.sources.allSatisfy(done.contains) else { return false }
    if options.output == nil { return true }
    let names = options.sources.map { options.tree.name(of: $0).lowercased() }
    return options.sources.allSatisfy(URLText.looksLikeURL) && Set(names).count == names.count
  }

  /// A URL behind an option may be its value, and stays.
  private static func without(_ done: Set<String>, _ arguments: [String]) -> [String] {
    arguments.enumerated().filter { number, word in
      let before = number > 0 ? arguments[number - 1] : ""
      return !done.contains(word) || before.hasPrefix("-") && before != "--"
    }.map(\.element)
  }

  /// Quoted for a POSIX shell where that is needed.
  static func quoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.utf8.allSatisfy { $0.isAlphanumeric(or: "_-./:,=+@%") }
    return isPlain
      ? word
      : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
