import ArgumentParser
import NetSpool

/// The words of `get` and `post` that belong to no group of options.
struct ExchangeWords: ParsableArguments {
  @Argument(help: ArgumentHelp("URLs; http:// is added to one without a scheme.", valueName: "url"))
  var named: [String] = []

  @Option("url") var more: [String] = []
  @Option("request") var method: String?
  @Flag("next") var next = false
  @Flag("curl") var curl = false
  @Option("config") var config: [String] = []
  @Flag("no-config") var noConfig = false

  /// As they are written, in the order of the command line, with the scheme that curl guesses.
  var arguments: [String] {
    (named + more).map { $0.contains("://") || $0.isEmpty || URLText.hasScheme($0) ? $0 : "http://\($0)" }
  }
}

/// The options of curl that `get` and `post` have. No group itself: debug builds of the parser look at each group within a
/// group many times over.
protocol ExchangeOptions {
  var words: ExchangeWords { get }
  var target: TargetOptions { get }
  var body: BodyOptions { get }
  var account: CredentialOptions { get }
  var cookies: CookieOptions { get }
  var request: RequestOptions { get }
  var connection: ConnectionOptions { get }
  /// The method of a request without a body.
  var standardMethod: String { get }
  /// Gives a request what only this command knows.
  func finish(_ request: inout NetworkRequest)
  /// Nil: without a cache.
  func cacheSettings(_ environment: Environment) throws(StoreFailure) -> CacheConfiguration?
}

struct Asked {
  /// Which of the arguments it comes from: so it has its file to write and to send.
  let argument: Int
  let url: String
  /// What stands for its brackets and braces.
  let parts: [String]
}

extension ExchangeOptions {
  /// All that the arguments stand for, in their order; made one by one, as brackets may stand for millions.
  var asked: AnySequence<Asked> {
    let globs = words.arguments.map { URLGlob($0, isOff: target.globoff) }
    return AnySequence(
      globs.enumerated().lazy.flatMap { number, glob in
        (0..<glob.count).lazy.map { glob.url($0) }.map {
          Asked(argument: number, url: $0.text, parts: $0.parts)
        }
      })
  }

  /// Looks at the groups together. The n-th file is that of the n-th URL: one more would be forgotten without a word.
  func validateTogether() throws {
    let urls = words.arguments
    try refuse(urls.isEmpty, "Which URL? 'netspool get https://example.org/'.")
    try URLText.check(urls.lazy.map { URLGlob($0, isOff: target.globoff).url(0).text })
    try refuse(
      target.output.count > urls.count,
      "There are more of --output and --remote-name than URLs: each is for one, in their order.")
    try refuse(
      body.uploads.count > urls.count,
      "There are more of --upload-file than URLs: each is for one, in their order.")
    let isMethod = words.method.map { !$0.isEmpty && $0.utf8.allSatisfy(HeaderField.isTokenByte) } ?? true
    try refuse(!isMethod, "--request is a method such as GET, POST, PUT, PATCH or DELETE.")
    try refuse(
      target.head && !body.isEmpty && !body.inQuery,
      "--head asks for the head alone: there is nothing to send with it.")
  }
}
