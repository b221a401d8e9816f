import ArgumentParser
import NetSpool

/// A cache as `netspool cache` sees it. A folder without one stays without one.
struct CacheKeeper {
  private let settings: CacheSettings

  /// More than any disk has: the real limit is that of the job that fills the cache, and looking must not evict.
  private static let bytesMax = 1 << 40

  init(_ place: CachePlace, _ environment: Environment) throws(CacheFailure) {
    var settings = try CacheSettings(place, environment)
    settings.bytesMax = Self.bytesMax
    self.settings = settings
  }

  /// Prints what the body makes, and ends with status 74 for a cache that cannot be used.
  static func run(
    _ place: CachePlace, _ body: (CacheKeeper) throws(CacheFailure) -> [UInt8]
  ) throws {
    do {
      let text = try body(try CacheKeeper(place, .process))
      try Descriptor(borrowing: 1, named: "standard output").write(text)
    } catch {
      Console.standardError().message("netspool: \(error)")
      throw ExitCode(JobStatus.localIO.code)
    }
  }

  func facts() throws(CacheFailure) -> FactSheet {
    let statistics = try withEngine { $0.cacheStatistics }
    let bytes = statistics?.bytes ?? 0
    return FactSheet(groups: [
      FactSheet.Group(
        name: "cache",
        entries: [
          ("directory", .text(settings.directory)),
          ("entries", .number(statistics?.entries ?? 0, unit: "")),
          ("in use", .number(bytes, unit: "bytes")),
          ("file", .number(CacheFiles.bytes(in: settings.directory) ?? 0, unit: "bytes")),
        ])
    ])
  }

  /// How many entries went.
  func empty() throws(CacheFailure) -> Int { try removing { $0.emptyCache() } }

  /// How many entries went, variants included.
  func remove(_ urls: [String], arePrefixes: Bool) throws(CacheFailure) -> Int {
    try removing { engine in
      for url in urls { arePrefixes ? engine.removeCached(prefix: url) : engine.removeCached(url: url) }
    }
  }

  private func removing(_ body: (NetworkEngine) -> Void) throws(CacheFailure) -> Int {
    let counts = try withEngine { engine in
      let before = engine.cacheStatistics?.entries ?? 0
      body(engine)
      engine.flushCache()
      return (before, after: engine.cacheStatistics?.entries ?? 0)
    }
    return counts.map { max(0, $0.0 - $0.after) } ?? 0
  }

  /// Nil when there is no cache.
  private func withEngine<Result>(_ body: (NetworkEngine) -> Result?) throws(CacheFailure) -> Result? {
    if FileStatus(path: settings.directory)?.isDirectory == false { throw .noDirectory(settings.directory) }
    guard CacheFiles.bytes(in: settings.directory) != nil else { return nil }
    let engine: NetworkEngine
    do throws(NetworkError) {
      var configuration = NetworkEngine.Configuration()
      configuration.queue = try NetworkQueue()
      engine = try NetworkEngine(configuration: configuration)
    } catch {
      throw CacheFailure(settings.directory, error)
    }
    defer {
      engine.configuration.queue.close()
      engine.closeCache()
    }
    try engine.useCache(settings)
    return body(engine)
  }
}
