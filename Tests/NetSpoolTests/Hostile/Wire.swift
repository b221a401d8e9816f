import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// An engine on a queue of its own, and an origin that does what the test says.
struct Wire: Sendable {
  let origin: ScriptedOrigin
  let queue: NetworkQueue
  let engine: NetworkEngine

  init(
    loops: NetworkQueue.Loops? = nil, _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in }
  ) throws {
    origin = try ScriptedOrigin.hostile()
    var settings = NetworkQueue.Configuration()
    if let loops { settings.loops = loops }
    queue = try NetworkQueue(configuration: settings)
    engine = try NetworkEngine(on: queue, configure)
  }

  func operation(_ path: String, _ method: NetworkRequest.Method = .get) -> NetworkOperation {
    engine.operation(url: origin.url(path), method: method)
  }

  func result(of operation: NetworkOperation) async -> Ending {
    do {
      return .success(try await engine.response(for: operation))
    } catch let error as NetworkError {
      return .failure(error)
    } catch { return .failure(NetworkError(code: .cancelled, reason: "\(error)")) }
  }

  /// How a GET of a URL ends.
  func get(_ url: String) async -> Ending { await result(of: engine.operation(url: url)) }

  func answer(_ operation: NetworkOperation) async throws -> NetworkResponse {
    try await result(of: operation).get()
  }

  func failure(_ operation: NetworkOperation, at location: SourceLocation = #_sourceLocation) async throws
    -> NetworkError
  {
    switch await result(of: operation) {
    case .failure(let error): return error
    case .success(let response):
      return try #require(nil, "status \(response.status) came instead of an error", sourceLocation: location)
    }
  }

  /// Ends the queue's thread and answers how many handles its loop left open.
  func close() async -> Int { await blocking { queue.driver.close() } }
}

/// Runs a test on a wire of its own and proves that nothing of it is left. With `alone` no other test with an
/// engine runs meanwhile.
func withWire(
  _ configure: (inout NetworkEngine.Configuration) -> Void = { _ in }, loops: NetworkQueue.Loops? = nil,
  alone: Bool = false, at location: SourceLocation = #_sourceLocation, _ body: (Wire) async throws -> Void
) async throws {
  try await TestSlots.run(alone: alone) {
    let wire = try Wire(loops: loops, configure)
    do {
      try await body(wire)
    } catch {
      _ = await wire.close()
      throw error
    }
    #expect(await wire.close() == 0, "handles are left on the loop", sourceLocation: location)
  }
}

/// The same with a hostile server of its own, which it trusts.
func withHostileServer(
  _ version: HostileServer.Version, alone: Bool = false,
  _ adjust: (inout NetworkEngine.Configuration) -> Void = { _ in },
  at location: SourceLocation = #_sourceLocation, _ body: (Wire, HostileServer) async throws -> Void
) async throws {
  let server = try await blocking { try HostileServer(version) }
  defer { server.stop() }
  try await withWire(
    {
      $0.tls.caFile = server.authority
      adjust(&$0)
    }, alone: alone, at: location
  ) { wire in try await body(wire, server) }
}
