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
      let statistics = engine.cacheStatistics
      return (before, after: statistics?.entries ?? 0, isWritten: statistics?.state == .open)
    }
    if counts?.isWritten == false { throw .notRemoved(settings.directory) }
    return counts.map { max(0, $0.0 - $0.after) } ?? 0
  }

  /// Nil when there is no cache.
  private func withEngine<Result>(_ body: (NetworkEngine) -> Result?) throws(CacheFailure) -> Result? {
    if FileFacts(path: settings.directory)?.isDirectory == false { throw .noDirectory(settings.directory) }
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

/// The cache of one command.
struct CacheSettings: Sendable {
  let directory: String
  var bytesMax = CacheConfiguration().bytesMax
  var rules = CacheRules.standard
  /// Milliseconds since 1970, instead of the system's.
  var clock: (@Sendable () -> Int64)?

  /// Pages of the store that stay in the process at most: a job's memory must not grow with its cache.
  static let residentBytesMax = 512 << 10

  init(_ place: CachePlace, _ environment: Environment) throws(CacheFailure) {
    guard let path = place.path(environment) else { throw .nowhere }
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
  func useCache(_ settings: CacheSettings, console: Console? = nil) throws(CacheFailure) {
    do throws(NetworkError) {
      if let clock = settings.clock {
        try useCache(settings.configuration, now: clock)
      } else {
        try useCache(settings.configuration)
      }
    } catch {
      let failure = CacheFailure(settings.directory, error)
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

/// A cache that cannot be used. Ends a command with status 74, unless another process only keeps it busy: going on without
/// would be a surprise.
struct CacheFailure: Error, Equatable, CustomStringConvertible {
  /// Nil when nothing says where it is.
  let directory: String?
  let cause: String

  static let nowhere = CacheFailure(
    directory: nil, cause: "neither XDG_CACHE_HOME nor HOME names an absolute path; --cache names a folder")

  static func noDirectory(_ path: String) -> CacheFailure {
    CacheFailure(directory: path, cause: "it is no directory")
  }

  static func notRemoved(_ path: String) -> CacheFailure {
    CacheFailure(directory: path, cause: "it cannot be written, so nothing may have been removed")
  }

  private init(directory: String?, cause: String) {
    self.directory = directory
    self.cause = cause
  }

  init(_ directory: String, _ error: NetworkError) {
    self.init(directory: directory, cause: error.storeSentence)
  }

  var description: String {
    "cannot use the cache\(directory.map { " in \($0)" } ?? ""): \(cause)"
  }

  /// For commands that can do without.
  var withAdvice: String { "\(self); --no-cache fetches without it" }
}

extension NetworkError {
  /// Why a store cannot be used, with what that means.
  var storeSentence: String {
    let meaning: String? =
      switch cause {
      case .permissions: "it must be writable for this user and for nobody else"
      case .owner: "it belongs to another user"
      case .remoteFileSystem: "it is on a network file system, where it cannot be shared safely"
      case .readOnly: "it is on a read-only file system"
      case .opening, .writing: "another process keeps it for itself"
      default: nil
      }
    return "\(self)" + (meaning.map { ": \($0)" } ?? "")
  }
}
