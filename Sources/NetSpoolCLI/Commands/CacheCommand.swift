import ArgumentParser
import NetSpool

/// `netspool cache`: what is in the cache, and out with it.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at the cache of fetch, empty it, or remove single URLs.",
    subcommands: [CacheStatsCommand.self, CacheEmptyCommand.self, CacheRemoveCommand.self])
}

/// `netspool cache stats`.
struct CacheStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show where the cache is, how many entries it has and what they take.")

  @OptionGroup var place: CachePlace

  @Flag(help: "Print JSON instead of a table.")
  var json = false

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(StoreFailure) in
      let sheet = try keeper.facts()
      return json ? sheet.json : Array(sheet.text.utf8)
    }
  }
}

/// `netspool cache empty`.
struct CacheEmptyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty", abstract: "Remove everything that fetch has cached.",
    discussion: """
      Jobs that use the cache at the same time go on and fill it again. The file keeps its length; what is free \
      in it is used again.
      """)

  @OptionGroup var place: CachePlace

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(StoreFailure) in
      Array("removed \(HumanText.plural(try keeper.empty(), "entry", "entries"))\n".utf8)
    }
  }
}

/// `netspool cache remove URL...`.
struct CacheRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove URLs from the cache, in all their variants.",
    discussion: "That a URL is not in the cache is no error.")

  @Argument(help: "URLs, with http:// or https://; with --prefix what they begin with.")
  var urls: [String]

  @Flag(help: "Remove every URL that begins so.")
  var prefix = false

  @OptionGroup var place: CachePlace

  func validate() throws {
    for url in urls {
      if let problem = URLText.problem(url) {
        throw ValidationError("'\(URLText.excerpt(url))': \(problem.sentence).")
      }
    }
  }

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(StoreFailure) in
      let count = try keeper.remove(urls, arePrefixes: prefix)
      return Array("removed \(HumanText.plural(count, "entry", "entries"))\n".utf8)
    }
  }
}

/// What `fetch` understands about the cache.
struct CacheOptions: ParsableArguments {
  @Flag("no-cache") var noCache = false
  @OptionGroup var place: CachePlace
  @Option("cache-size") var cacheSize: ByteSize?
  @Option("rules") var rules = RulesName.standard

  /// `--rules`.
  enum RulesName: String, CaseIterable, Sendable, ExpressibleByArgument { case standard, relaxed }

  /// The library takes no less.
  static let bytesMin: Int64 = 1 << 20

  func validate() throws {
    if let cacheSize, cacheSize.bytes < Self.bytesMin {
      throw ValidationError("--cache-size is at least 1M.")
    }
    try refuse(
      noCache && (place.directory != nil || cacheSize != nil || rules != .standard),
      "--no-cache and --cache, --cache-size or --rules contradict each other.")
  }

  /// Nil with `--no-cache`.
  func settings(_ environment: Environment) throws(StoreFailure) -> CacheSettings? {
    if noCache { return nil }
    var settings = try CacheSettings(place, environment)
    if let cacheSize { settings.bytesMax = Int(cacheSize.bytes) }
    if rules == .relaxed { settings.rules = .relaxed }
    return settings
  }
}

/// Which cache a command is about.
struct CachePlace: ParsableArguments {
  @Option("cache") var directory: String?

  func validate() throws {
    try refuse(directory?.isEmpty == true, "--cache is a folder.")
  }

  /// The folder, whether it is there or not; by default that of the library's engines. Nil when nothing names one.
  func path(_ environment: Environment) -> String? {
    directory ?? environment.folder("XDG_CACHE_HOME", ".cache").map { "\($0)/netspool/default" }
  }
}
