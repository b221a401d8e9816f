import NetSpool

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
  func useCache(_ settings: CacheSettings) throws(CacheFailure) {
    do throws(NetworkError) {
      if let clock = settings.clock {
        try useCache(settings.configuration, now: clock)
      } else {
        try useCache(settings.configuration)
      }
    } catch {
      throw CacheFailure(settings.directory, error)
    }
  }
}
