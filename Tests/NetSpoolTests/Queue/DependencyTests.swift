import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

struct DependencyTests {
  @Test func `a chain runs in its order, whatever order it was enqueued in`() async throws {
    try await withEngine { engine, origin in
      origin.on(prefix: "/", .text("ok"))
      let operations = (0..<200).map { engine.operation(path: "/\($0)") }
      for index in 1..<200 { operations[index].addDependency(operations[index - 1]) }
      var random = SplitMix64(seed: 7)
      for operation in operations.shuffled(using: &random) { engine.enqueue(operation) }
      #expect(await operations[199].end().text == "ok")
      #expect(origin.requests.map(\.path) == (0..<200).map { "/\($0)" })
    }
  }

  @Test func `an operation starts after the last of many, however they end`() async throws {
    try await withEngine { engine, origin in
      origin.on("/good", .text("ok"))
      origin.on("/bad", .status(500))
      origin.hold("/held")
      origin.on("/last", .text("last"))
      let last = engine.operation(path: "/last")
      let held = engine.operation(path: "/held")
      let unused = engine.operation(path: "/unused")
      let invalid = engine.operation(url: "ftp://example.org/")
      let others = [engine.operation(path: "/good"), engine.operation(path: "/bad"), held, unused, invalid]
      for other in others { last.addDependency(other) }
      for operation in [last] + others.filter({ $0 !== unused }) { engine.enqueue(operation) }
      #expect(await origin.waitForWaiting("/held", 1))
      // When the two that are left end without an answer
      held.cancel()
      unused.cancel()
      #expect(await last.end().text == "last")
      #expect(origin.hits("/unused") == 0)
    }
  }

  @Test func `a cycle is refused, and the others of it go on`() async throws {
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      origin.on(prefix: "/", .text("ok"))
      let operations = (0..<3).map { engine.operation(path: "/\($0)") }
      for index in 0..<3 { operations[index].addDependency(operations[(index + 1) % 3]) }
      for operation in operations { engine.enqueue(operation) }
      engine.configuration.queue.isSuspended = false
      #expect(await operations[2].end().code == .invalidRequest)
      #expect(await operations[1].end().text == "ok")
      #expect(await operations[0].end().text == "ok")
    }
  }

  @Test func `an operation may wait for an operation of another queue`() async throws {
    try await withEngine { engine, origin in
      try await withQueue { queue in
        let other = try NetworkEngine(to: origin, on: queue)
        origin.hold("/first", .text("first"))
        origin.on("/second", .text("second"))
        let first = other.operation(path: "/first")
        let second = engine.start(engine.operation(path: "/second").addDependency(first))
        other.enqueue(first)
        #expect(await origin.waitForWaiting("/first", 1))
        #expect(origin.hits("/second") == 0)
        origin.release("/first")
        #expect(await second.end().text == "second")
      }
    }
  }

  @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [0, 2, 1, 3], [3, 1, 2, 0]])
  func `a cycle over three queues is refused, and the others of it go on`(order: [Int]) async throws {
    try await withEngine { engine, origin in
      try await withQueue { second in
        try await withQueue { third in
          origin.on(prefix: "/", .text("ok"))
          // Given a cycle of which one queue has two
          let engines = [
            engine, try NetworkEngine(to: origin, on: second), try NetworkEngine(to: origin, on: third),
          ]
          let operations = [0, 1, 1, 2].enumerated().map { engines[$1].operation(path: "/\($0)") }
          for index in 0..<4 { operations[index].addDependency(operations[(index + 1) % 4]) }
          for index in order { operations[index].engine.enqueue(operations[index]) }
          var codes: [NetworkError.Code?] = []
          for operation in operations { codes.append(await operation.end().code) }
          #expect(codes.contains(.invalidRequest))
          #expect(codes.allSatisfy { $0 == nil || $0 == .invalidRequest })
        }
      }
    }
  }

  @Test func `of two queues that close a cycle at one moment one refuses it`() async throws {
    try await withEngine { engine, origin in
      try await withQueue { queue in
        let other = try NetworkEngine(to: origin, on: queue)
        origin.on(prefix: "/", .text("ok"))
        for _ in 0..<2_000 {
          let (first, second) = (engine.operation(path: "/1"), other.operation(path: "/2"))
          first.addDependency(second)
          second.addDependency(first)
          async let isFirstSent: Void = engine.enqueue(first)
          async let isSecondSent: Void = other.enqueue(second)
          _ = await (isFirstSent, isSecondSent)
          let codes = [await first.end().code, await second.end().code]
          #expect(codes.contains(.invalidRequest))
        }
      }
    }
  }

  @Test func `a cycle of ten thousand over two queues is found, whatever the order`() async throws {
    let count = 10_000
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      try await withQueue({ $0.isSuspended = true }) { queue in
        let engines = [engine, try NetworkEngine(to: origin, on: queue)]
        var random = SplitMix64(seed: 1)
        var chain = (0..<count).map { engines[$0 % 2].operation(path: "/\($0)") }
        chain.shuffle(using: &random)
        for index in 1..<count { chain[index].addDependency(chain[index - 1]) }
        // When the first waits for the last
        for operation in chain.shuffled(using: &random) where operation !== chain[0] {
          operation.engine.enqueue(operation)
        }
        // Who comes last is refused, so both loops must have taken all others
        for engine in engines { await engine.settle() }
        chain[0].addDependency(chain[count - 1])
        chain[0].engine.enqueue(chain[0])
        #expect(await chain[0].end().code == .invalidRequest)
        for operation in chain { operation.cancel() }
        #expect(await chain[count / 2].end().code == .cancelled)
      }
    }
  }

  @Test func `cancelling one that waits for others ends it at once`() async throws {
    try await withEngine { engine, origin in
      let never = engine.operation(path: "/never")
      let operation = engine.start(engine.operation(path: "/a").addDependency(never))
      operation.cancel()
      #expect(await operation.end().code == .cancelled)
      #expect(origin.requestCount == 0)
    }
  }

  @Test func `a long chain of ended operations is let go without deep recursion`() async throws {
    try await withEngine { engine, _ in
      var last = engine.operation(path: "/0")
      for number in 1..<20_000 {
        let next = engine.operation(path: "/\(number)").addDependency(last)
        last.cancel()
        engine.enqueue(next)
        last = next
      }
      last.cancel()
      #expect(await last.end().code == .cancelled)
    }
  }

  @Test func `a long chain that is never enqueued is let go`() async throws {
    try await withEngine { engine, _ in
      var last = engine.operation(path: "/")
      for _ in 0..<(isSanitized ? 10_000 : 100_000) {
        last = engine.operation(path: "/").addDependency(last)
      }
    }
  }
}
