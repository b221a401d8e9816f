import ArgumentParser
import NetSpool

/// `netspool cache`: what is in the cache, and out with it.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at the cache of fetch, empty it, or remove single URLs.",
    subcommands: [CacheStatsCommand.self, CacheEmptyCommand.self, CacheRemoveCommand.self])
}

struct CacheStatsCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show where the cache is, how many entries it has and what they take.")

  @OptionGroup var place: CachePlace
  @Flag(help: "Print JSON instead of a table.") var json = false

  func run(_ console: Console) throws -> JobStatus { try CacheKeeper(place).facts().print(asJSON: json) }
}

struct CacheEmptyCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty", abstract: "Remove everything that fetch has cached.",
    discussion: """
      Jobs that use the cache at the same time go on and fill it again. The file keeps its length; what is free \
      in it is used again.
      """)

  @OptionGroup var place: CachePlace

  func run(_ console: Console) throws -> JobStatus { try CacheKeeper(place).remove { $0.emptyCache() } }
}

struct CacheRemoveCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove URLs from the cache, in all their variants.",
    discussion: "That a URL is not in the cache is no error.")

  @Argument(help: "URLs, with http:// or https://; with --prefix what they begin with.") var urls: [String]
  @Flag(help: "Remove every URL that begins so.") var prefix = false
  @OptionGroup var place: CachePlace

  func validate() throws { try URLText.check(urls) }

  func run(_ console: Console) throws -> JobStatus {
    try CacheKeeper(place).remove { engine in
      for url in urls { prefix ? engine.removeCached(prefix: url) : engine.removeCached(url: url) }
    }
  }
}

struct CacheOptions: ParsableArguments {
  @Flag("no-cache") var noCache = false
  @OptionGroup var place: CachePlace
  @Option("cache-size") var cacheSize: ByteSize?
  @Option("rules") var rules = RulesName.standard

  enum RulesName: String, CaseIterable, Sendable, ExpressibleByArgument { case standard, relaxed }

  func validate() throws {
    // The library takes no less.
    try refuse(cacheSize.map { $0.bytes < 1 << 20 } ?? false, "--cache-size is at least 1M.")
    try refuse(
      noCache && (place.directory != nil || cacheSize != nil || rules != .standard),
      "--no-cache and --cache, --cache-size or --rules contradict each other.")
  }

  /// Nil with `--no-cache`.
  func settings(_ environment: Environment) throws(StoreFailure) -> CacheConfiguration? {
    if noCache { return nil }
    var settings = try place.settings(environment, bytesMax: cacheSize.map { Int($0.bytes) })
    if rules == .relaxed { settings.rules = .relaxed }
    return settings
  }
}

struct CachePlace: ParsableArguments {
  @Option("cache") var directory: String?

  /// Pages of the store that stay in the process at most: a job's memory must not grow with its cache.
  static let residentBytesMax = 512 << 10

  func validate() throws { try refuse(directory?.isEmpty == true, "--cache is a folder.") }

  /// The folder, whether it is there or not; by default that of the library's engines. Nil when nothing names one.
  func path(_ environment: Environment) -> String? {
    directory ?? environment.folder("XDG_CACHE_HOME", ".cache").map { "\($0)/netspool/default" }
  }

  func settings(_ environment: Environment, bytesMax: Int? = nil) throws(StoreFailure) -> CacheConfiguration {
    guard let path = path(environment) else { throw .nowhere(.cache) }
    var settings = CacheConfiguration()
    settings.directory = path
    if let bytesMax { settings.bytesMax = bytesMax }
    // No single body may push out all others.
    settings.bodyBytesMax = min(settings.bodyBytesMax, settings.bytesMax / 4)
    settings.residentBytesMax = Self.residentBytesMax
    return settings
  }
}
