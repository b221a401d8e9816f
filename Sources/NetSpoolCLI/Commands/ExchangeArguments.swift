import ArgumentParser
import NetSpool

/// The words of `get` and `post` that belong to no group of options.
struct ExchangeWords: ParsableArguments {
  @Argument(help: ArgumentHelp("URLs; http:// is added to one without a scheme.", valueName: "url"))
  var named: [PlacedText] = []

  @Option(name: .customLong("url"), help: ArgumentHelp("A URL, as the others.", valueName: "url"))
  var more: [PlacedText] = []

  @Option(
    name: [.customShort("X"), .customLong("request"), .customLong("method")],
    help: ArgumentHelp("The request method, whatever else says.", valueName: "method"))
  var method: String?

  @Flag(help: "Print the equivalent curl command, secrets and all, and send nothing.")
  var curl = false

  @Option(
    name: [.customShort("K"), .long],
    help: ArgumentHelp(
      "Read options from this file, written as the configuration file or as curl's; '-' is standard input.",
      valueName: "file"), completion: .file())
  var config: [String] = []

  @Flag(help: "Pay no attention to the configuration file.")
  var noConfig = false

  /// As they are written, in the order of the command line, with the scheme that curl guesses.
  var arguments: [String] {
    (named + more).sorted { $0.place < $1.place }.map(\.text).map {
      $0.contains("://") || $0.isEmpty || URLText.hasScheme($0) ? $0 : "http://\($0)"
    }
  }
}

/// What `get` and `post` have in common: curl's options.
///
/// No group of options itself: of groups within groups, debug builds of the parser look at each many times over.
struct ExchangeArguments {
  let words: ExchangeWords
  let target: TargetOptions
  let body: BodyOptions
  let account: CredentialOptions
  let cookies: CookieOptions
  let request: RequestOptions
  let connection: ConnectionOptions

  /// All that the arguments stand for, in their order; made one by one, as brackets may stand for millions.
  var asked: some Sequence<Asked> {
    let globs = words.arguments.map { URLGlob($0, isOff: target.globoff) }
    return globs.enumerated().lazy.flatMap { number, glob in
      (0..<glob.count).lazy.map { Asked(argument: number, glob.url($0)) }
    }
  }

  /// A URL to be asked.
  struct Asked {
    /// Which of the arguments it comes from: so it has its file to write and to send.
    let argument: Int
    let url: String
    /// What stands for its brackets and braces.
    let parts: [String]

    init(argument: Int, _ made: (text: String, parts: [String])) {
      (self.argument, url, parts) = (argument, made.text, made.parts)
    }
  }

  var method: String? { words.method }
  var curl: Bool { words.curl }

  /// Each group has been looked at by itself.
  func validate() throws {
    guard !words.arguments.isEmpty else {
      throw ValidationError("Which URL? 'netspool get https://example.org/'.")
    }
    for url in words.arguments.map({ URLGlob($0, isOff: target.globoff).url(0).text }) {
      if let problem = URLText.problem(url) {
        throw ValidationError("'\(URLText.excerpt(url))': \(problem.sentence).")
      }
    }
    try validatePairs()
    if let method, method.isEmpty || !method.utf8.allSatisfy(HeaderField.isTokenByte) {
      throw ValidationError("--request is a method such as GET, POST, PUT, PATCH or DELETE.")
    }
    if target.head, !body.isEmpty, !body.inQuery {
      throw ValidationError("--head asks for the head alone: there is nothing to send with it.")
    }
  }
}

extension ExchangeArguments {
  /// The n-th file is that of the n-th URL, so none may be left over: it would be forgotten without a word.
  private func validatePairs() throws {
    if target.places.count > words.arguments.count {
      throw ValidationError(
        "There are more of --output and --remote-name than URLs: each is for one, in their order.")
    }
    if body.uploads.count > words.arguments.count {
      throw ValidationError("There are more of --upload-file than URLs: each is for one, in their order.")
    }
  }
}
