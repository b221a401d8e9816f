import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Names that nobody finds stop no other engine's.
@Suite struct HangingNamesTests {
  /// Names that begin with `hanging` are not found before the latch opens.
  private func withHangingNames(
    _ body: (NetworkQueue, ScriptedOrigin, Latch) async throws -> Void
  ) async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let hangs = Latch()
      queue.driver.eachLoop {
        $0.names.resolver = NameResolver { name in
          if name.hasPrefix("hanging") { hangs.block() }
          return ["127.0.0.1"]
        }
      }
      try await body(queue, origin, hangs)
    }
  }

  @Test func `a name that is not found is looked up again when a long wait is over`() async throws {
    try await withQueue({ $0.isSuspended = true }) { queue in
      let (origin, isThere) = (try ScriptedOrigin(answering: .text("ok")), Flag())
      queue.driver.eachLoop { $0.names.resolver = NameResolver { _ in isThere.isSet ? ["127.0.0.1"] : nil } }
      let engine = try NetworkEngine(on: queue)
      let operation = engine.start(engine.operation(url: origin.url("/", host: "late.test")))
      _ = await operation.onLoop(after: .milliseconds(1_200)) {}
      #expect(operation.state == .queued)
      isThere.set()
      queue.isSuspended = false
      #expect(await operation.end().text == "ok")
    }
  }

  @Test func `a late answer that there is no such name says nothing to those that ask again`() async throws {
    try await withQueue { queue in
      let origin = try ScriptedOrigin(answering: .text("ok"))
      let (asked, first, second) = (Counter(), Latch(), Latch())
      queue.driver.eachLoop {
        $0.names.resolver = NameResolver { _ in
          let isFirst = asked.add() == 1
          (isFirst ? first : second).block()
          return isFirst ? nil : ["127.0.0.1"]
        }
      }
      let engine = try NetworkEngine(on: queue) { $0.retry = .none }
      let operations = (0..<2).map { _ in engine.operation(url: origin.url("/", host: "late.test")) }
      engine.enqueue(operations[0])
      #expect(await until { asked.value == 1 })
      operations[0].cancel()
      #expect(await operations[0].end().code == .cancelled)
      engine.enqueue(operations[1])
      #expect(await until { asked.value == 2 })
      // When the first is answered, and the loop has gone on since
      first.open()
      #expect(await until { engine.budgets.names.held == 1 })
      for _ in 0..<3 { #expect(await engine.end(of: engine.operation(url: origin.url("/"))).text == "ok") }
      second.open()
      #expect(await operations[1].end().text == "ok")
    }
  }

  @Test func `the time that a name takes is taken off the limit for connecting`() async throws {
    let hole = try BlackHole()
    try await withHangingNames { queue, _, hangs in
      let engine = try NetworkEngine(on: queue)
      let operation = engine.start(engine.operation(url: "http://hanging.test:\(hole.port)/"))
      await engine.settle()
      _ = await operation.onLoop(after: .milliseconds(100)) {}
      hangs.open()
      #expect(await until { operation.state == .executing })
      let timeouts = await operation.port.onLoop(of: engine.id) { _ in
        operation.loop.transfer?.exchange.plan.timeouts
      }
      let left = try #require(timeouts).connect
      #expect(left <= NetworkRequest.Timeouts.patient.connect - .milliseconds(99), "\(left)")
      operation.cancel()
      #expect(await operation.end().code == .cancelled)
    }
  }

  /// Others have asked for one of the names as well, behind more names than they may have looked up at once. Five of them fill
  /// all that several may have, after two seconds; the rest is for who has none.
  @Test(arguments: [(1, 20, 4), (5, 30, 24)])
  func `a name is found for one engine while names of others hang`(_ others: Int, names: Int, held: Int)
    async throws
  {
    try await withHangingNames { queue, origin, hangs in
      let engines = try (0..<others).map { _ in try NetworkEngine(on: queue) }
      let other = try NetworkEngine(on: queue)
      var operations: [NetworkOperation] = []
      for (number, engine) in engines.enumerated() {
        let hosts = (0..<names).map { "hanging\(number)-\($0).test" } + ["both.test"]
        operations += engine.start(hosts.map { engine.operation(url: origin.url("/", host: $0)) })
      }
      _ = await until { engines.map(\.budgets.names.held).reduce(0, +) >= held }
      // Each name is new to it, so that it has to be looked up
      for host in ["both.test", "one.test", "two.test"] {
        #expect(await other.end(of: other.operation(url: origin.url("/", host: host))).text == "ok")
      }
      hangs.open()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }
}
