import ArgumentParser

/// `netspool get`: one request.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Send one request and write the body to standard output or a file.",
    discussion: """
      A status of 400 or more ends with exit status 1; without -o its body is written all the same, as curl \
      does it. The cache is left alone unless --cached or --cache asks for it.
      """)

  @OptionGroup var options: GetOptions

  func run() throws {
    let stop = StopSwitch.onSignals()
    try JobStatus.exit(Console.standardError()) { console in
      try GetRun(options: options, console: console, stop: stop).run()
    }
  }
}

/// The options of `netspool get`.
struct GetOptions: ParsableArguments {
  @Argument(help: "The URL, with http:// or https://.")
  var url: String

  @Option(
    name: [.customShort("X"), .customLong("request")],
    help: ArgumentHelp("The request method.", valueName: "method"))
  var method = "GET"

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write the body to this file instead of standard output ('-'). It appears when it is whole.",
      valueName: "file"))
  var output: String?

  @Flag(name: [.short, .long], help: "Show headers and timings on standard error, secrets masked.")
  var verbose = false

  @Flag(
    help: ArgumentHelp(
      "Use the cache: take what is fresh in it from there, and keep what comes. Without it, get asks the origin as "
        + "curl does. Implied by --cache."))
  var cached = false

  @OptionGroup var place: CachePlace

  @Flag(help: "Print the equivalent curl command, secrets and all, and send nothing.")
  var curl = false

  @OptionGroup(title: "Credentials") var account: CredentialOptions

  @OptionGroup(title: "Request options") var request: RequestOptions

  func validate() throws {
    if let problem = URLText.problem(url) {
      throw ValidationError("'\(URLText.masked(url))': \(problem.sentence).")
    }
    guard !method.isEmpty, method.utf8.allSatisfy(HeaderField.isTokenByte) else {
      throw ValidationError("--request is a method such as GET or HEAD.")
    }
  }

  var usesCache: Bool { cached || place.directory != nil }
}
