import ArgumentParser
import NetSpool

/// `netspool fetch`: a list of URLs through the queue.
struct FetchCommand: ParsableCommand {
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
      valueName: "list|-|url"), completion: .file())
  var sources: [String] = []

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write each body to a file in this folder, or into this tar, from the cache as from the network. Without it only "
        + "the cache is filled.", valueName: "dir|x.tar"), completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp("Write one JSON object per URL to this file.", valueName: "x.jsonl"),
    completion: .file())
  var results: String?

  @Flag(help: "Skip what the results file has as done, and go on writing it. Needs --results.")
  var resume = false

  @Option(
    help: ArgumentHelp(
      "Write the failed lines to this file; it can be the next run's list.", valueName: "x.txt"),
    completion: .file())
  var failed: String?

  @Option(help: ArgumentHelp("Transfers at once: auto, or 1 to 1024.", valueName: "auto|n"))
  var jobs = Jobs.auto

  @Flag(help: "Leave out lines whose file is there already.")
  var skipExisting = false

  @Flag(
    help: "Fetch what is newer than its file: asks with If-Modified-Since, and sets times as --remote-time.")
  var newer = false

  @Flag(name: [.customShort("R"), .long], help: "Give files the time of Last-Modified.")
  var remoteTime = false

  @Option(
    help:
      "Folders below --output: flat, host, path (as in the URL), hash2 (256 of them, for very many files).")
  var tree = OutputTree.flat

  @Option(
    help:
      "What files are called that the list does not name: url (as it ends), header (as the server says), final (as the last URL of redirects ends)."
  )
  var names = OutputNaming.url

  @Option(
    help: ArgumentHelp(
      "Divide the tar: x-000000.tar, x-000001.tar, ... of so many items each, or with a unit of so many bytes.",
      valueName: "n|bytes"))
  var shardSize: ShardLimit?

  @Flag(
    name: .customLong("continue"), inversion: .prefixedNo,
    help: "Go on with files over 8 MiB that broke off, and leave their parts. It is so unless told otherwise."
  )
  var continues = true

  @Option(
    help: ArgumentHelp("At most this many at once to one origin. Default: adapts, up to 64.", valueName: "n"))
  var perOrigin: Int?

  @Option(help: ArgumentHelp("Start at most this many: 50/s, 30/m, 10/h.", valueName: "n/s"))
  var rate: RateLimiter?

  @Option(help: ArgumentHelp("Start at most this many for one host: 2/s, 30/m, 10/h.", valueName: "n/s"))
  var perHostRate: RateLimiter?

  @Option(
    help: ArgumentHelp(
      "Stop with status 3 after more than this many failures: 100, 5%. A share is judged from \(ErrorBudget.percentFloor) lines on, and at the end.",
      valueName: "n|p%"))
  var maxErrors: ErrorBudget?

  @Flag(
    help:
      "A body that is not a whole image (PNG, JPEG, GIF, WebP, AVIF, HEIF, BMP) is a failure: no file, nothing cached."
  )
  var imagesOnly = false

  @OptionGroup var pictures: ThumbnailOptions

  @Flag(
    help:
      "Fetch nothing that an origin's robots.txt (RFC 9309) keeps from machines of this User-Agent, and keep nothing whose X-Robots-Tag is noai, noimageai, noindex or none."
  )
  var robots = false

  @Flag(
    help:
      "Print what would be fetched, as URL, tab, name. Nothing is sent or written; the cache is not asked.")
  var dryRun = false

  @Flag(help: "Record the SHA-256 of each file in the results.")
  var checksum = false

  @Option(
    help: ArgumentHelp("Write an HTTP archive (HAR 1.2) without bodies, secrets masked.", valueName: "x.har"),
    completion: .file())
  var har: String?

  @Option(
    help: ArgumentHelp(
      "Take only this part of the list, counted from 0: 0/4 to 3/4. Default: from JOB_COMPLETION_INDEX and "
        + "NETSPOOL_SHARDS, or SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.", valueName: "i/n"))
  var shard: Shard?

  @Option(
    help:
      "Progress on standard error: auto (a bar on a terminal, a line every 10 s in a log), always, never, lines."
  )
  var progress = ProgressMode.auto

  @Flag(
    name: [.customShort("q"), .long, .customShort("s"), .customLong("silent")],
    help: "No progress, no failures, no summary; only what stops the job.")
  var quiet = false

  @Flag(help: "Print the summary as JSON on standard output.")
  var json = false

  @Flag(
    name: [.customShort("g"), .long],
    help: "Take brackets and braces in URLs of the command line as they stand.")
  var globoff = false

  // Without titles: titled groups stand before all others in the help, and would hide what everybody needs.
  @OptionGroup var cache: CacheOptions

  @OptionGroup var request: RequestOptions

  @OptionGroup var account: CredentialOptions

  @OptionGroup var cookies: CookieOptions

  @OptionGroup var connection: ConnectionOptions

  @Option(
    name: [.customShort("K"), .long],
    help: ArgumentHelp(
      "Read options from this file, written as the configuration file or as curl's; '-' is standard input.",
      valueName: "file"), completion: .file())
  var config: [String] = []

  @Flag(help: "Pay no attention to the configuration file.")
  var noConfig = false

  func run() throws {
    let stop = StopSwitch.onSignals()
    FileLimit.raise()
    throw ExitCode(status(stop).code)
  }

  private func status(_ stop: StopSwitch) -> JobStatus {
    let console = Console.standardError()
    do throws(IOFailure) {
      let run = FetchRun(
        options: self, console: console, arguments: Array(CommandLine.arguments.dropFirst()), stop: stop,
        reactor: try PollReactor())
      return run.runOnNetwork()
    } catch {
      console.message("netspool: \(error)")
      return .localIO
    }
  }

  func validate() throws {
    guard !sources.isEmpty else {
      throw ValidationError("Nothing to fetch: name a list, URLs, or '-' for standard input.")
    }
    guard sources.count(where: { $0 == "-" }) <= 1 else {
      throw ValidationError("'-' can be given once: standard input can be read once.")
    }
    if let perOrigin, !(1...Jobs.countMax).contains(perOrigin) {
      throw ValidationError("--per-origin is a number from 1 to \(Jobs.countMax).")
    }
    if cookies.cookieJar != nil || !cookies.files.isEmpty {
      throw ValidationError("For a list, --cookie is 'name=value', and there is no --cookie-jar.")
    }
    if account.signing?.isWhole == false {
      throw ValidationError("For a list, --aws-sigv4 is whole: 'aws:amz:region:service'.")
    }
    if pictures.maxSide != nil, robots {
      throw ValidationError("--robots and --thumbnail contradict each other.")
    }
    if pictures.maxSide != nil, checksum || remoteTime || newer || request.limitRate != nil {
      throw ValidationError(
        "--thumbnail goes with none of --checksum, --newer, --remote-time and --limit-rate.")
    }
    try validateFiles()
  }

  /// Bodies go into a tar, not into a folder.
  var writesTar: Bool {
    output.map { $0.hasSuffix(".tar") && FileFacts(path: $0)?.isDirectory != true } ?? false
  }

  /// Answers name the files.
  var namesLate: Bool { names != .url }

  /// Bodies land elsewhere first.
  var landsBodies: Bool { writesTar || namesLate }

  private func validateTar() throws {
    if namesLate, output == nil || writesTar || skipExisting || newer || pictures.maxSide != nil {
      throw ValidationError(
        "--names header and final need --output DIR, and go with none of --skip-existing, --newer and --thumbnail."
      )
    }
    if !writesTar, shardSize != nil { throw ValidationError("--shard-size needs --output x.tar.") }
    if writesTar, skipExisting || newer {
      throw ValidationError(
        "--skip-existing and --newer look at files; what a tar has is not fetched again anyway.")
    }
    if let output, [".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"].contains(where: output.hasSuffix) {
      throw ValidationError("A tar is not compressed: name it x.tar.")
    }
  }

  private func validateFiles() throws {
    if output == "-" {
      throw ValidationError("--output is a folder or a tar; 'netspool get' writes to standard output.")
    }
    if resume && results == nil {
      throw ValidationError("--resume needs --results: that file says what is done.")
    }
    if resume && results == "-" {
      throw ValidationError("--resume cannot read back results from standard output; name a file.")
    }
    try validateTar()
    if output == nil, skipExisting || newer || remoteTime || tree != .flat {
      throw ValidationError("--skip-existing, --newer, --remote-time and --tree need --output.")
    }
    if namesLate, tree != .flat { throw ValidationError("--names header and final know no --tree.") }
    if skipExisting && newer {
      throw ValidationError("--skip-existing leaves out what --newer asks for: name one.")
    }
    if checksum && output == nil {
      throw ValidationError("--checksum needs --output: it is taken of the files written.")
    }
    let onStandardOutput = [results == "-", failed == "-", har == "-", json, dryRun].count { $0 }
    if onStandardOutput > 1 {
      throw ValidationError(
        "Only one of --results -, --failed -, --har -, --json and --dry-run can have standard output.")
    }
  }
}

extension FetchRun {
  /// Runs with a real network, which is gone when this returns: with it go half-written files.
  func runOnNetwork() -> JobStatus {
    var fetcher: EngineFetcher?
    let status = run { options, folder in
      var cache: CacheSettings?
      do {
        cache = try options.cache.settings(environment)
      } catch {
        guard options.cache.place.directory == nil else { throw error }
        console.message("netspool: \(error); it goes on without a cache")
      }
      cache?.clock = cacheClock
      let made = try EngineFetcher(
        options, folder, cache: cache, isCacheNeeded: options.cache.place.directory != nil,
        temporary: Ledger.temporaryDirectory(environment),
        environment: environment, board: isSilent ? nil : board, console: console)
      fetcher = made
      return made
    }
    guard let failure = fetcher?.close() else { return status }
    console.message("netspool: \(failure)")
    return .localIO
  }
}

/// The command that goes on where a stopped job left off, ready to paste but for its secrets: it may stand in a log.
enum ResumeCommand {
  /// The same command, with `--resume` if there is a results file that says what is done, else with `--skip-existing` if
  /// all files of the folder are the job's. Without either, the same command again finds what it fetched in the cache.
  ///
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
    let isPlain = !word.isEmpty && word.utf8.allSatisfy(isPlain)
    return isPlain
      ? word
      : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "_-./:,=+@%".utf8.contains(byte)
  }
}
