import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// A clock that stands still until it is told to move.
final class WallClockHand: Sendable {
  private let milliseconds: Mutex<Int64>

  init() { milliseconds = Mutex(WallClock.milliseconds) }

  var now: Int64 { milliseconds.withLock { $0 } }

  func advance(seconds: Double) { milliseconds.withLock { $0 += Int64(seconds * 1000) } }
}

/// An engine with a cache in a folder of its own, and an origin. The clock is the cache's.
func withCache(
  rules: NetSpool.CacheRules = .standard, policy: NetSpool.CachePolicy = .automatic,
  _ settings: (inout CacheConfiguration) -> Void = { _ in },
  engine configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (NetworkEngine, ScriptedOrigin, WallClockHand) async throws -> Void
) async throws {
  let folder = try TestFolder()
  let clock = WallClockHand()
  var configuration = CacheConfiguration.patient(folder.path)
  configuration.rules = rules
  configuration.defaultPolicy = policy
  settings(&configuration)
  try await withEngine(configure, sourceLocation: sourceLocation) { engine, origin in
    try engine.useCache(configuration, now: { clock.now })
    try await body(engine, origin, clock)
  }
  _ = folder
}

extension CacheConfiguration {
  /// A busy machine is taken for no disk that hangs.
  static func patient(_ directory: String) -> CacheConfiguration {
    var configuration = CacheConfiguration(directory: directory)
    configuration.slack = 60
    return configuration
  }
}

extension NetworkEngine {
  /// The answer to a GET of a path.
  func fetch(
    _ path: String, _ policy: NetSpool.CachePolicy? = nil, headers: NetworkRequest.Headers = [:]
  ) async -> Ending {
    let operation = operation(path: path)
    operation.cachePolicy = policy
    operation.configure { request in
      for field in headers { request.headers.add(field.name, field.value) }
    }
    return await end(of: operation)
  }

  /// Nothing is held for a path.
  func isMissing(_ path: String, _ fields: NetworkRequest.Headers = [:]) async -> Bool {
    await fetch(path, .onlyIfCached, headers: fields).code == .notCached
  }
}
