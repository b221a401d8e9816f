import NetSpoolTesting
import Testing

@testable import NetSpool

/// An engine on a queue of its own and an origin for it to talk to. Afterwards the queue is closed, and it is
/// proven that no handle was left open.
func withOrigin(_ body: (NetworkEngine, ScriptedOrigin) async throws -> Void) async throws {
  let origin = try ScriptedOrigin()
  let queue = try NetworkQueue()
  defer { #expect(queue.driver.close() == 0, "handles were left open") }
  var configuration = NetworkEngine.Configuration()
  configuration.scheme = .http
  configuration.port = origin.port
  configuration.queue = queue
  try await body(NetworkEngine(host: "127.0.0.1", configuration: configuration), origin)
}

/// What the engine gives for a body that an origin sent.
func withResponse(
  _ bytes: [UInt8], type: String = "application/octet-stream", _ body: (NetworkResponse) async throws -> Void
) async throws {
  try await withOrigin { engine, origin in
    origin.on("/", .bytes(bytes, type: type))
    try await body(try await engine.response(for: engine.operation(path: "/")))
  }
}
