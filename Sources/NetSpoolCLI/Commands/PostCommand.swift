import ArgumentParser
import NetSpool

/// `netspool post`: one request that changes something.
struct PostCommand: StatusCommand, ExchangeOptions {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Send a form, a file or JSON, now or as soon as it can be sent, with curl's options.",
    discussion: """
      Examples:
        netspool post https://example.org/notes -d 'text=hello'
        netspool post https://example.org/files -F title=Map -F file=@map.png
        netspool post https://example.org/orders --json '{"article": 4711}' --freeze

      With --freeze the request is on disk before its first byte leaves, and is sent again after a dead link, a dead \
      server, a crash or a restart: the same bytes with the same Idempotency-Key. Standard output gets its ticket, \
      then the answer's body. A request that was interrupted is sent by 'netspool frozen thaw', or by the next \
      'post --freeze'. Values of secret headers (Authorization, Cookie, X-...-Key and their like) are never written to \
      the disk: 'frozen thaw --header' gives them again.
      Exit status: 0 answered, or frozen with --detach; 1 refused; 2 it stays frozen; 64 usage; 74 a local file or the \
      frozen store cannot be used; 130 and 143 stopped by a signal.
      """)

  @OptionGroup var words: ExchangeWords
  @OptionGroup(title: "Where the answer goes") var target: TargetOptions
  @OptionGroup(title: "What to send") var body: BodyOptions
  @OptionGroup(title: "Who is asking") var account: CredentialOptions
  @OptionGroup(title: "Cookies") var cookies: CookieOptions
  @OptionGroup(title: "The request") var request: RequestOptions
  @OptionGroup(title: "The connection") var connection: ConnectionOptions
  @Option("idempotency-key") var idempotencyKey: String?
  @OptionGroup(title: "Freezing") var freezing: FreezingOptions

  /// The methods that change nothing, so that there is nothing to keep.
  private static let safeMethods = ["GET", "HEAD", "OPTIONS", "TRACE"]

  func validate() throws {
    try validateTogether()
    try refuse(
      idempotencyKey.map(Self.isKey) == false,
      "--idempotency-key is 1 to 255 printable ASCII characters, without '\"' and '\\'.")
    guard freezing.freeze else { return }
    let method = words.method ?? (target.head ? "HEAD" : body.inQuery ? "GET" : "POST")
    try refuse(
      Self.safeMethods.contains(method),
      "\(method) changes nothing, so it is not frozen: ask again with 'netspool get'.")
    try refuse(
      account.signsIn,
      "--freeze writes no passwords to the disk, so it goes without --user and its like; --header has an Authorization of your own, and 'frozen thaw --header' gives it again."
    )
    try refuse(Array(asked.prefix(2)).count > 1, "--freeze takes one URL at a time.")
    try refuse(
      body.uploads.contains("-"), "--upload-file - cannot be frozen; --file - can: it is read first.")
  }

  /// What is said of the first option of a command line that a frozen request does not keep; nil without one. Defaults of the
  /// configuration file are for other requests, too.
  func contradiction(_ line: [String]) -> String? {
    guard freezing.freeze, !words.curl else { return nil }
    return CommandWord.all(line).lazy.compactMap { word in
      word.option.flatMap { contradiction($0, word.value) }
    }
    .first
  }

  private func contradiction(_ option: OptionSpec, _ value: String?) -> String? {
    if option.has("unfrozen") {
      return
        "--\(option.name) and --freeze contradict each other: another call may send what is frozen, and does not know it."
    }
    if option.name == "cookie", !cookies.files.isEmpty {
      return "--freeze goes with --cookie 'name=value', and with no file of cookies."
    }
    // The type of a body is said by the request itself, and an Expect that is not sent does no harm.
    guard option.name == "header", let field = value.flatMap(HeaderField.init(argument:)), field.value == nil,
      !["content-type", "expect"].contains(field.name.lowercased())
    else { return nil }
    return "--header '\(field.name):' and --freeze contradict each other: a frozen request has the field"
  }

  private static func isKey(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }

  func run(_ console: Console) throws -> JobStatus {
    let stop = StopSwitch.onSignals
    return try freezing.freeze && !words.curl
      ? FrozenPost(options: self, console: console, stop: stop).run()
      : GetRun(options: self, console: console, stop: stop).run()
  }

  var standardMethod: String { "POST" }
  func finish(_ request: inout NetworkRequest) { request.idempotencyKey = idempotencyKey }
  func cacheSettings(_ environment: Environment) -> CacheConfiguration? { nil }
}
