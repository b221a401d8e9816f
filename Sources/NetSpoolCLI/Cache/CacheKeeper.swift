import Glibc
import NetSpool

/// A cache as `netspool cache` sees it. A folder without one stays without one.
struct CacheKeeper {
  private let settings: CacheConfiguration
  private let directory: String

  /// - Parameter place: the real limit of its bytes is that of the job that fills the cache, and looking must not evict.
  init(_ place: CachePlace) throws(StoreFailure) {
    settings = try place.settings(.process, bytesMax: 1 << 40)
    directory = settings.directory ?? ""
  }

  func facts() throws(StoreFailure) -> FactSheet {
    let statistics = try withEngine { $0.cacheStatistics }
    return FactSheet(groups: [
      (
        "cache",
        [
          ("directory", .text(directory)), ("entries", .number(statistics?.entries ?? 0)),
          ("in use", .number(statistics?.bytes ?? 0, "bytes")),
          ("file", .number(CacheFiles.bytes(in: directory) ?? 0, "bytes")),
        ]
      )
    ])
  }

  /// Removes entries, and prints how many went, variants included.
  func remove(_ body: (NetworkEngine) -> Void) throws -> JobStatus {
    let counts = try withEngine { engine in
      let before = engine.cacheStatistics?.entries ?? 0
      body(engine)
      engine.flushCache()
      let statistics = engine.cacheStatistics
      return (before, after: statistics?.entries ?? 0, isWritten: statistics?.state == .open)
    }
    if counts?.isWritten == false {
      throw StoreFailure(
        store: .cache, directory: directory, cause: "it cannot be written, so nothing may have been removed")
    }
    let gone = counts.map { max(0, $0.0 - $0.after) } ?? 0
    try StandardOutput.write("removed \(HumanText.plural(gone, "entry", "entries"))\n")
    return .allDone
  }

  /// Nil when there is no cache.
  private func withEngine<Result>(_ body: (NetworkEngine) -> Result?) throws(StoreFailure) -> Result? {
    if FileFacts(path: directory)?.isDirectory == false { throw .noDirectory(.cache, directory) }
    // Another user's would look as if it were not there.
    if unsafe access("\(directory)/data.mdb", F_OK) != 0, errno == EACCES {
      throw StoreFailure(store: .cache, directory: directory, cause: "it is another user's")
    }
    guard CacheFiles.bytes(in: directory) != nil else { return nil }
    let engine: NetworkEngine
    do throws(NetworkError) {
      var configuration = NetworkEngine.Configuration()
      configuration.queue = try NetworkQueue()
      engine = try NetworkEngine(configuration: configuration)
    } catch { throw StoreFailure.of(.cache, directory, error) }
    defer {
      engine.configuration.queue.close()
      engine.closeCache()
    }
    try engine.useCache(settings, clock: nil, console: nil)
    return body(engine)
  }
}

extension NetworkEngine {
  /// Opens the cache, or throws a sentence for people. A console hears of one that another process keeps for itself, which is
  /// tried again on the way; without a console that is a failure too. The clock has milliseconds since 1970.
  func useCache(_ settings: CacheConfiguration, clock: (@Sendable () -> Int64)?, console: Console?)
    throws(StoreFailure)
  {
    do throws(NetworkError) {
      if let clock { try useCache(settings, now: clock) } else { try useCache(settings) }
    } catch {
      let failure = StoreFailure.of(.cache, settings.directory ?? "", error)
      guard error.code == .storeBusy, let console else { throw failure }
      console.message("netspool: \(failure.cause): going on without the cache until it is free")
    }
  }
}

/// What a cache's folder holds, found without opening the store: looking must not make one, or change one.
enum CacheFiles {
  /// The length of the store with its long bodies; nil when there is none.
  static func bytes(in directory: String) -> Int? {
    guard let data = FileFacts(path: "\(directory)/data.mdb"), data.isPlainFile else { return nil }
    let bodies = "\(directory)/bodies"
    let names = (try? LandingFolder.names(in: bodies)) ?? []
    return names.reduce(data.size) { $0 + (FileFacts(path: "\(bodies)/\($1)")?.size ?? 0) }
  }
}
