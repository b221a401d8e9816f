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
      let origin = try ScriptedOrigin()
      origin.on("/", .text("ok"))
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

  /// Another engine has asked for the same name, behind more names than it may have looked up at once.
  @Test func `a name is found for one engine while another's names hang`() async throws {
    try await withHangingNames { queue, origin, hangs in
      let hanging = try NetworkEngine(on: queue)
      let other = try NetworkEngine(on: queue)
      var operations = (0..<20).map { hanging.operation(url: origin.url("/", host: "hanging\($0).test")) }
      operations.append(hanging.operation(url: origin.url("/", host: "both.test")))
      hanging.enqueue(operations)
      _ = await until { hanging.budgets.names.held >= 4 }
      await expectFound(["both", "one", "two"].map { "\($0).test" }, by: other, at: origin)
      hangs.open()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  /// Five engines fill all that several may have; the rest is for who has none.
  @Test func `a name is found for one engine while names of five others hang`() async throws {
    try await withHangingNames { queue, origin, hangs in
      let engines = try (0..<5).map { _ in try NetworkEngine(on: queue) }
      let other = try NetworkEngine(on: queue)
      var operations: [NetworkOperation] = []
      for (number, engine) in engines.enumerated() {
        let mine = (0..<30).map {
          engine.operation(url: origin.url("/", host: "hanging\(number)-\($0).test"))
        }
        engine.enqueue(mine)
        operations += mine
      }
      // So many after two seconds
      _ = await until { engines.map(\.budgets.names.held).reduce(0, +) >= 24 }
      await expectFound((0..<3).map { "found\($0).test" }, by: other, at: origin)
      hangs.open()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  /// Each name is new, so that it has to be looked up, while the others hang.
  private func expectFound(_ names: [String], by engine: NetworkEngine, at origin: ScriptedOrigin) async {
    for name in names {
      #expect(await engine.end(of: engine.operation(url: origin.url("/", host: name))).text == "ok")
    }
  }
}
