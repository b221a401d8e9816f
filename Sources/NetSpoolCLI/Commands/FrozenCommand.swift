import ArgumentParser

/// `netspool frozen`: requests that wait on the disk.
struct FrozenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frozen", abstract: "Look at what 'post --freeze' left, send it, or drop it.",
    subcommands: [
      FrozenListCommand.self, FrozenShowCommand.self, FrozenThawCommand.self, FrozenReviveCommand.self,
      FrozenDropCommand.self,
    ])
}

struct FrozenListCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show what waits, in the order in which it will be sent.",
    discussion: "Looking sends nothing.")

  @Flag(help: "Show dead letters instead: what will not be sent any more, and why. Kept for 7 days.")
  var dead = false
  @Flag(help: "Print one JSON object per request instead of a table.") var json = false
  @OptionGroup var place: FrozenPlace

  func run(_ console: Console) throws -> JobStatus {
    try FrozenKeeper(place: place, console: console).list(dead: dead, asJSON: json)
  }
}

struct FrozenShowCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all that is known of a request that waits or is dead.",
    discussion: "Secrets are masked; values of secret headers are not in the store at all.")

  @Argument(help: "Their numbers.") var ids: [UInt64]
  @Flag(
    help:
      "Print the request as a curl command. The body stays in the store: curl reads it from standard input.")
  var curl = false
  @Flag(help: "Print one JSON object per request.") var json = false
  @OptionGroup var place: FrozenPlace

  func validate() throws { try refuse(curl && json, "--curl and --json say how: name one.") }

  func run(_ console: Console) throws -> JobStatus {
    try FrozenKeeper(place: place, console: console).show(ids, as: curl ? .curl : json ? .json : .text)
  }
}

struct FrozenThawCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "thaw", abstract: "Send what waits, and report each outcome.",
    discussion: """
      Ends when everything is sent, or at the deadline; what is not sent by then stays frozen. Values of secret \
      headers are not in the store: --header gives them again, to requests of one origin at a time.
      Exit status: 0 all sent, 1 some are dead letters, 2 some still wait (run again), 64 usage, 74 the store cannot \
      be used, 130 and 143 stopped by a signal.
      """)

  @Argument(help: "The numbers of those to send; all that wait if none is named.") var ids: [UInt64] = []
  @Option(
    name: [.customShort("H"), .customLong("header")],
    help: ArgumentHelp(
      "The value of a secret header, as 'Name: value', for the requests that need it. Repeatable.",
      valueName: "field")) var headerWords: [HeaderWord] = []
  @Option(help: ArgumentHelp("Leave after this long, whatever still waits: 30s, 5m, 1h.", valueName: "time"))
  var timeout = TimeSpan(seconds: Double(RequestOptions.timeoutSeconds))
  @Flag(help: "Print one JSON object per outcome instead of a line.") var json = false
  @Flag("in-clear") var inClear = false
  @OptionGroup var place: FrozenPlace
  @OptionGroup(title: "The connection") var connection: ConnectionOptions

  func validate() throws {
    try HeaderWord.check(headerWords)
    try refuse(headerWords.count != header.count, "--header takes no file here: 'Name: value'.")
  }

  var header: [HeaderField] {
    headerWords.compactMap { if case .field(let field) = $0 { field } else { nil } }
  }

  func run(_ console: Console) throws -> JobStatus {
    try ThawRun(options: self, console: console, stop: .onSignals).run()
  }
}

struct FrozenReviveCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "revive", abstract: "Have dead letters sent after all, with their old keys.",
    discussion: "They wait again; 'netspool frozen thaw' sends them.")

  @OptionGroup var choice: FrozenChoice
  @OptionGroup var place: FrozenPlace

  func run(_ console: Console) throws -> JobStatus {
    try FrozenKeeper(place: place, console: console).revive(choice.chosen)
  }
}

struct FrozenDropCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Give requests up, and forget dead letters.",
    discussion: "What was dropped is gone: it can neither be sent nor revived.")

  @OptionGroup var choice: FrozenChoice
  @OptionGroup var place: FrozenPlace

  func run(_ console: Console) throws -> JobStatus {
    try FrozenKeeper(place: place, console: console).drop(choice.chosen)
  }
}

/// Some by their numbers, or all.
struct FrozenChoice: ParsableArguments {
  @Argument(help: "Their numbers.") var ids: [UInt64] = []
  @Flag(help: "All dead letters; 'drop' takes all that waits as well.") var all = false

  func validate() throws { try refuse(ids.isEmpty != all, "Name the numbers, or --all.") }

  /// Nil is all.
  var chosen: [UInt64]? { all ? nil : ids }
}

struct FreezingOptions: ParsableArguments {
  @Flag("freeze") var freeze = false
  @Flag("detach") var detach = false
  @OptionGroup var place: FrozenPlace
  @Option("lane") var lane: String?
  @Option("dedupe") var dedupe: String?
  @Option("tag") var tag: String?
  @Option("expires") var expires: TimeSpan?
  @Flag("json-output") var jsonOutput = false

  func validate() throws {
    let others = [
      ("--detach", detach), ("--frozen-store", place.directory != nil), ("--lane", lane != nil),
      ("--dedupe", dedupe != nil), ("--tag", tag != nil), ("--expires", expires != nil),
      ("--json-output", jsonOutput),
    ]
    if !freeze, let first = others.first(where: \.1) { throw ValidationError("\(first.0) needs --freeze.") }
    for (name, value) in [("--lane", lane), ("--dedupe", dedupe), ("--tag", tag)] {
      let isName = value.map { (1...255).contains($0.utf8.count) && !HeaderField.hasControl($0) } ?? true
      try refuse(!isName, "\(name) is a name of 1 to 255 bytes without control characters.")
    }
  }
}

struct FrozenPlace: ParsableArguments {
  @Option("frozen-store") var directory: String?

  func validate() throws { try refuse(directory?.isEmpty == true, "--frozen-store is a folder.") }

  /// The folder, whether it is there or not. Nil when nothing names one. Not that of the library's engines: a store has one
  /// owner, and a program that runs would keep this one out.
  func path(_ environment: Environment) -> String? {
    directory ?? environment.folder("XDG_STATE_HOME", ".local/state").map { "\($0)/netspool/tool" }
  }

  /// As it was given, for a command that is to be pasted.
  var words: [String] { directory.map { ["--frozen-store", $0] } ?? [] }
}
