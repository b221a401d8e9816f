#if Images
import NetSpool
import NetSpoolTesting

@testable import NetSpoolImages
@testable import TestSupport

/// Pictures at an origin, and an engine with a cache that asks for them.
struct ImagesBench {
  let engine: NetworkEngine
  let origin: ScriptedOrigin
  let folder = try? TestFolder()
  /// What the cache takes for the time: milliseconds since 1970.
  let clock = Variable<Int64>(1_700_000_000_000)
  /// Called whenever the cache asks for it.
  let onTime = Variable<(@Sendable () -> Void)?>(nil)

  /// Runs a test, with a cache or without, and ends the engine's queue afterwards.
  static func run(
    caches: Bool = false, _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    _ body: (ImagesBench) async throws -> Void
  ) async throws {
    let queue = try NetworkQueue(configuration: NetworkQueue.Configuration())
    let origin = try ScriptedOrigin()
    var configuration = NetworkEngine.Configuration()
    configuration.queue = queue
    configure(&configuration)
    let bench = ImagesBench(engine: try NetworkEngine(configuration: configuration), origin: origin)
    try await TestSlots.run {
      do {
        if caches { try bench.useCache() }
        try await body(bench)
      } catch {
        await blocking { queue.close() }
        throw error
      }
      await blocking { queue.close() }
    }
  }

  private func useCache() throws {
    guard let folder else { throw PartFailure("no folder") }
    let configuration = CacheConfiguration(directory: folder["cache"])
    try engine.useCache(configuration) { [clock, onTime] in
      onTime.value?()
      return clock.value
    }
  }

  /// Serves a picture that is fresh for a minute.
  func serve(_ path: String, _ bytes: [UInt8], etag: String = "\"1\"") {
    origin.on(
      path, Answer.bytes(bytes, type: "image/png").header("Cache-Control", "max-age=60").header("ETag", etag))
  }

  func url(_ path: String) -> String { origin.url(path) }

  /// Why there is no thumbnail: the code and the reason.
  func failure(_ path: String, _ limits: ThumbnailLimits = .init()) async -> String? {
    do {
      _ = try await engine.thumbnail(
        of: engine.operation(url: url(path)), as: ThumbnailTransform(), limits: limits)
      return nil
    } catch let error as NetworkError {
      return "\(error.code) \(error.reason ?? "")"
    } catch { return "\(error)" }
  }
}
#endif
