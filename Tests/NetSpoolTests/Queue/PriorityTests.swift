import NetSpool
import NetSpoolTesting
import Testing

struct PriorityTests {
  /// Operations behind one that holds the only slot; answers the order in which the origin saw them.
  private func order(
    _ paths: [(String, NetworkRequest.Priority)], change: ([String: NetworkOperation]) -> Void = { _ in }
  ) async throws -> [String] {
    var seen: [String] = []
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on(prefix: "/", .text("ok"))
      let blocker = await engine.held("/blocker", at: origin)
      var operations: [String: NetworkOperation] = [:]
      for (path, priority) in paths {
        let operation = engine.operation(path: path)
        operation.priority = priority
        engine.enqueue(operation)
        operations[path] = operation
      }
      await engine.settle()
      change(operations)
      blocker.cancel()
      for operation in operations.values { #expect(await operation.end().text == "ok") }
      seen = origin.requests.map(\.path).filter { $0 != "/blocker" }
    }
    return seen
  }

  @Test func `the urgent one overtakes what waits`() async throws {
    let seen = try await order([("/low", .low), ("/1", .normal), ("/2", .normal), ("/urgent", .urgent)])
    #expect(seen.first == "/urgent")
    #expect(seen.count == 4)
  }

  @Test func `a change counts while it waits, up and down`() async throws {
    let paths = (0..<20).map { ("/\($0)", NetworkRequest.Priority.normal) }
    let seen = try await order(paths) { operations in
      operations["/19"]?.priority = .urgent
      operations["/0"]?.priority = .low
    }
    #expect(seen.first == "/19")
    // It was the first in line, and its class has two turns where the others' has five.
    #expect(try #require(seen.firstIndex(of: "/0")) >= 2)
  }

  @Test func `within a class it is first in, first out`() async throws {
    let paths = (0..<50).map { ("/\($0)", NetworkRequest.Priority.high) }
    #expect(try await order(paths) == paths.map(\.0))
  }

  @Test func `a flood of low ones neither holds up what is high nor starves`() async throws {
    var flood: [(String, NetworkRequest.Priority)] = (0..<300).map { ("/low\($0)", .low) }
    flood += (0..<100).map { ("/high\($0)", .high) }
    let seen = try await order(flood)
    // High has ten of twelve turns while both wait: a hundred of them need about 120 turns.
    let lastHigh = try #require(seen.lastIndex { $0.hasPrefix("/high") })
    #expect(lastHigh < 130)
    #expect(seen[..<lastHigh].count { $0.hasPrefix("/low") } >= 10)
  }
}
