import NetSpool
import NetSpoolCore
import NetSpoolTesting
import Testing

/// An engine on a queue of its own, and an origin for it to talk to: `engine.operation(path:)` leads there.
///
/// Afterwards the queue is closed, which ends what still runs, and it is proven that every operation got its
/// final event and that the loop was closed without a handle left open.
func withEngine(
  _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
  queue configureQueue: (inout NetworkQueue.Configuration) -> Void = { _ in },
  limits: OriginLimits = OriginLimits(), sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
) async throws {
  let origin = try ScriptedOrigin(limits: limits)
  try await withQueue(configureQueue, sourceLocation: sourceLocation) { queue in
    try await body(NetworkEngine(to: origin, on: queue, configure), origin)
  }
}

/// A queue of its own, proven to close empty.
func withQueue(
  _ configure: (inout NetworkQueue.Configuration) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (NetworkQueue) async throws -> Void
) async throws {
  var settings = NetworkQueue.Configuration()
  settings.sizing = .fixed(16)
  configure(&settings)
  let queue = try NetworkQueue(configuration: settings)
  defer {
    let left = queue.driver.close()
    #expect(left == 0, "handles were left open", sourceLocation: sourceLocation)
    let isDrained = queue.driver.drain(seconds: 10)
    #expect(isDrained, "an operation has no final event", sourceLocation: sourceLocation)
    #expect(!queue.activity.isBusy, sourceLocation: sourceLocation)
  }
  try await body(queue)
}

extension NetworkEngine {
  /// Paths lead to this origin.
  convenience init(
    to origin: ScriptedOrigin, on queue: NetworkQueue, _ configure: (inout Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Configuration()
    configuration.scheme = .http
    configuration.port = origin.port
    configuration.queue = queue
    configure(&configuration)
    try self.init(host: "127.0.0.1", configuration: configuration)
  }

  /// Enqueues one that asks for a path and answers it.
  @discardableResult
  func get(_ path: String) -> NetworkOperation {
    let operation = operation(path: path)
    enqueue(operation)
    return operation
  }

  /// Enqueues it and waits for its end.
  func end(of operation: NetworkOperation) async -> Ending {
    enqueue(operation)
    return await operation.end()
  }
}
