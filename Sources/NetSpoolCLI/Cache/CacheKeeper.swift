import NetSpool

/// A cache as `netspool cache` sees it. A folder without one stays without one.
struct CacheKeeper {
  private let settings: CacheSettings

  /// More than any disk has: the real limit is that of the job that fills the cache, and looking must not evict.
  private static let bytesMax = 1 << 40

  init(_ place: CachePlace, _ environment: Environment) throws(StoreFailure) {
    var settings = try CacheSettings(place, environment)
    settings.bytesMax = Self.bytesMax
    self.settings = settings
  }

  /// Prints what the body makes, and ends with status 74 for a cache that cannot be used.
  static func run(
    _ place: CachePlace, _ body: (CacheKeeper) throws(StoreFailure) -> [UInt8]
  ) throws {
    try JobStatus.exit { _ in
      try StandardOutput.write(try body(try CacheKeeper(place, .process)))
      return .allDone
    }
  }

  func facts() throws(StoreFailure) -> FactSheet {
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
  func empty() throws(StoreFailure) -> Int { try removing { $0.emptyCache() } }

  /// How many entries went, variants included.
  func remove(_ urls: [String], arePrefixes: Bool) throws(StoreFailure) -> Int {
    try removing { engine in
      for url in urls { arePrefixes ? engine.removeCached(prefix: url) : engine.removeCached(url: url) }
    }
  }

  private func removing(_ body: (NetworkEngine) -> Void) throws(StoreFailure) -> Int {
    let counts = try withEngine { engine in
      let before = engine.cacheStatistics?.entries ?? 0
      body(engine)
      engine.flushCache()
      let statistics = engine.cacheStatistics
      return (before, after: statistics?.entries ?? 0, isWritten: statistics?.state == .open)
    }
    if counts?.isWritten == false {
      throw StoreFailure(
        store: .cache, directory: settings.directory,
        cause: "it cannot be written, so nothing may have been removed")
    }
    return counts.map { max(0, $0.0 - $0.after) } ?? 0
  }

  /// Nil when there is no cache.
  private func withEngine<Result>(_ body: (NetworkEngine) -> Result?) throws(StoreFailure) -> Result? {
    if FileFacts(path: settings.directory)?.isDirectory == false {
      throw .noDirectory(.cache, settings.directory)
    }
    guard CacheFiles.bytes(in: settings.directory) != nil else { return nil }
    let engine: NetworkEngine
    do throws(NetworkError) {
      var configuration = NetworkEngine.Configuration()
      configuration.queue = try NetworkQueue()
      engine = try NetworkEngine(configuration: configuration)
    } catch {
      throw StoreFailure(.cache, settings.directory, error)
    }
    defer {
      engine.configuration.queue.close()
      engine.closeCache()
    }
    try engine.useCache(settings)
    return body(engine)
  }
}

/// The cache of one command.
struct CacheSettings: Sendable {
  let directory: String
  var bytesMax = CacheConfiguration().bytesMax
  var rules = CacheRules.standard
  /// Milliseconds since 1970, instead of the system's.
  var clock: (@Sendable () -> Int64)?

  /// Pages of the store that stay in the process at most: a job's memory must not grow with its cache.
  static let residentBytesMax = 512 << 10

  init(_ place: CachePlace, _ environment: Environment) throws(StoreFailure) {
    guard let path = place.path(environment) else { throw .nowhere(.cache) }
    directory = path
  }

  /// The largest body that is kept: no single one may push out all others.
  var bodyBytesMax: Int { min(CacheConfiguration().bodyBytesMax, bytesMax / 4) }

  var configuration: CacheConfiguration {
    var configuration = CacheConfiguration()
    configuration.directory = directory
    configuration.bytesMax = bytesMax
    configuration.bodyBytesMax = bodyBytesMax
    configuration.rules = rules
    configuration.residentBytesMax = Self.residentBytesMax
    return configuration
  }
}

extension NetworkEngine {
  /// Opens the cache, or throws a sentence for people.
  ///
  /// - Parameter console: hears of a cache that another process keeps for itself; it is tried again on the way. Without
  ///   a console that is a failure too.
  func useCache(_ settings: CacheSettings, console: Console? = nil) throws(StoreFailure) {
    do throws(NetworkError) {
      if let clock = settings.clock {
        try useCache(settings.configuration, now: clock)
      } else {
        try useCache(settings.configuration)
      }
    } catch {
      let failure = StoreFailure(.cache, settings.directory, error)
      guard error.code == .storeBusy, let console else { throw failure }
      console.message("netspool: \(failure.cause): going on without the cache until it is free")
    }
  }
}

/// What a cache's folder holds, found without opening the store: looking must not make one, or change one.
enum CacheFiles {
  /// The store's length; nil when there is none.
  static func bytes(in directory: String) -> Int? {
    FileFacts(path: "\(directory)/data.mdb").flatMap { $0.isPlainFile ? $0.size : nil }
  }
}
