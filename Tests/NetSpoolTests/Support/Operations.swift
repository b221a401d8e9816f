import NetSpoolTesting

@testable import NetSpool
@testable import TestSupport

extension NetworkEngine {
  /// So many requests for a path, each of which has an exchange of its own; not enqueued.
  func apart(_ count: Int, _ path: String = "/") -> [NetworkOperation] {
    (0..<count).map { _ in operation(path: path).configure { $0.coalesces = false } }
  }

  /// Enqueues one whose first attempt fails, and answers it when it waits for the second.
  func waitingAgain(_ path: String, at origin: ScriptedOrigin) async -> NetworkOperation {
    origin.on(path, .status(503).header("Retry-After", "30"))
    let (waits, times) = (Latch(), Counter())
    let operation = operation(path: path).configure { $0.retry = .standard }
      .onStateChange { if $0 == .queued, times.add() == 2 { waits.open() } }
    enqueue(operation)
    await waits.opened()
    return operation
  }
}
