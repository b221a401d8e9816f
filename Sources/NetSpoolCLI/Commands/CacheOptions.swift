import ArgumentParser
import NetSpool

/// What `fetch` understands about the cache.
struct CacheOptions: ParsableArguments {
  @Flag(help: "Neither read the cache nor fill it.")
  var noCache = false

  @OptionGroup var place: CachePlace

  @Option(
    help: ArgumentHelp(
      "Let the cache take this much of the disk: 500M, 20G (binary units); 1 GiB unless told otherwise. What was "
        + "used longest ago goes first.", valueName: "bytes"))
  var cacheSize: ByteSize?

  @Option(
    help:
      "What counts as fresh: standard (RFC 9111), relaxed (an ETag lasts a day whatever the origin says)."
  )
  var rules = RulesName.standard

  /// `--rules`.
  enum RulesName: String, CaseIterable, Sendable, ExpressibleByArgument { case standard, relaxed }

  /// The library takes no less.
  static let bytesMin: Int64 = 1 << 20

  func validate() throws {
    if let cacheSize, cacheSize.bytes < Self.bytesMin {
      throw ValidationError("--cache-size is at least 1M.")
    }
    if noCache, place.directory != nil || cacheSize != nil || rules != .standard {
      throw ValidationError("--no-cache and --cache, --cache-size or --rules contradict each other.")
    }
  }

  /// Nil with `--no-cache`.
  func settings(_ environment: Environment) throws(CacheFailure) -> CacheSettings? {
    if noCache { return nil }
    var settings = try CacheSettings(place, environment)
    if let cacheSize { settings.bytesMax = Int(cacheSize.bytes) }
    if rules == .relaxed { settings.rules = .relaxed }
    return settings
  }
}
