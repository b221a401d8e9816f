import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A store of frozen requests that outlives its engines, and an origin that takes those to `/letters`.
final class FreezingFixture: Sendable {
  let folder: TestFolder
  let origin: ScriptedOrigin
  let configuration: FreezeConfiguration

  init(_ change: (inout FreezeConfiguration) -> Void = { _ in }) throws {
    folder = try TestFolder(in: TestFiles.fast)
    origin = try ScriptedOrigin()
    origin.on("/letters", .text("taken"))
    var configuration = FreezeConfiguration(directory: folder.path + "/frozen")
    // Tests do not wait for a second attempt.
    configuration.backoffBase = .zero
    change(&configuration)
    self.configuration = configuration
  }

  /// An engine whose paths lead to the origin, and which freezes here.
  func engine(
    on queue: NetworkQueue, _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in }
  ) throws -> NetworkEngine {
    let engine = try NetworkEngine(to: origin, on: queue, configure)
    try engine.useFreezing(configuration)
    return engine
  }

  /// Opens the store before its first engine, which would have said how.
  func open(_ change: (inout Freezer.Settings) -> Void) throws -> Freezer {
    var settings = Freezer.Settings(store: FrozenStoreSettings(directory: folder.path + "/frozen"))
    settings.policy.backoffBase = 0
    change(&settings)
    return try Freezer.shared(settings)
  }

  /// One life of an engine on this store. The engine is shut down, and its queue proven to close empty.
  func live(
    _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (NetworkEngine) async throws -> Void
  ) async throws {
    try await withQueue(sourceLocation: sourceLocation) { queue in
      let engine = try self.engine(on: queue, configure)
      try await body(engine)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }
}

extension NetworkEngine {
  /// A request that is to be frozen; not enqueued.
  func letter(_ path: String, _ text: String = "hello", method: NetworkRequest.Method = .post)
    -> NetworkOperation
  {
    let operation = operation(path: path, method: method)
    operation.setBody(.bytes(Array(text.utf8), contentType: "text/plain"))
    operation.isFreezable = true
    return operation
  }

  /// Enqueues it and waits until it is on the disk.
  func freeze(_ operation: NetworkOperation) async -> FrozenTicket {
    await withCheckedContinuation { continuation in
      operation.onFrozen { continuation.resume(returning: $0) }
      enqueue(operation)
    }
  }

  /// The first outcome that an earlier life left, or that comes.
  func thawed(tag: String? = nil) async throws -> ThawedOutcome {
    try await withCheckedThrowingContinuation { continuation in
      do { try onThawed(tag: tag) { continuation.resume(returning: $0) } } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
