import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Queues whose loops share each origin.
struct SplitOriginsTests {
  private func withSplit(
    _ sizing: NetworkQueue.Sizing, loops: Int = 4,
    _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withEngine(
      queue: { ($0.loops, $0.splitsHotOrigins, $0.sizing) = (.fixed(loops), true, sizing) }
    ) { engine, origin in
      // However slow the machine is
      engine.driver.eachLoop { $0.seats.silence = .max }
      try await body(engine, origin)
    }
  }

  private func start(_ count: Int, _ engine: NetworkEngine) -> [NetworkOperation] {
    (0..<count).map { engine.start(engine.operation(path: "/held", parameters: ["n": "\($0)"])) }
  }

  @Test(arguments: [(4, 8), (4, 11), (3, 3)])
  func `all loops together give an origin its width, each its part`(loops: Int, width: Int) async throws {
    try await withSplit(.fixed(width), loops: loops) { engine, origin in
      origin.hold("/held", .text("ok"))
      let operations = start(200, engine)
      let part = width / loops
      #expect(await origin.waitForWaiting("/held", part * loops))
      await engine.settle()
      for number in 0..<loops {
        let running = engine.driver.loops[number].running.load(ordering: .relaxed)
        #expect(running == part, "loop \(number)")
      }
      #expect(origin.waitingCount("/held") == part * loops && origin.connectionCount == part * loops)
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(origin.connectionCount == part * loops)
    }
  }

  @Test func `a new width counts on all of them`() async throws {
    try await withSplit(.fixed(2), loops: 2) { engine, origin in
      origin.hold("/held", .text("ok"))
      let operations = start(100, engine)
      #expect(await origin.waitForWaiting("/held", 2))
      engine.configuration.queue.sizing = .fixed(10)
      #expect(await origin.waitForWaiting("/held", 10))
      engine.configuration.queue.maximumPerOrigin = 4
      origin.release("/held", count: 8)
      #expect(await origin.waitForHits("/held", 12))
      #expect(await origin.waitForWaiting("/held", 4))
      #expect(origin.hits("/held") == 12)
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
    }
  }

  @Test func `equal requests meet`() async throws {
    try await withSplit(.fixed(64)) { engine, origin in
      let paths = (0..<12).map { "/held/\($0)" }
      for path in paths { origin.hold(path, .text("ok")) }
      let operations = paths.flatMap { path in (0..<10).map { _ in engine.start(path) } }
      await engine.settle()
      for path in paths { #expect(await origin.waitForWaiting(path, 1)) }
      origin.releaseAll()
      for operation in operations { #expect(await operation.end().text == "ok") }
      #expect(paths.map { origin.hits($0) } == Array(repeating: 1, count: paths.count))
    }
  }

  @Test func `what an origin asks of one loop all heed`() async throws {
    try await withSplit(.adaptive) { engine, origin in
      origin.on("/busy", .status(429).header("Retry-After", "600"))
      origin.on("/held", .text("ok"))
      #expect(await engine.end(of: engine.operation(path: "/busy")).code == .status)
      await engine.settle()
      let operations = start(40, engine)
      await engine.settle()
      #expect(origin.hits("/held") == 0 && engine.configuration.queue.activity.queued == 40)
      for operation in operations { operation.cancel() }
      for operation in operations { #expect(await operation.end().code == .cancelled) }
    }
  }

  @Test func `what a queue was made with counts`() async throws {
    try await withSplit(.fixed(4), loops: 2) { engine, _ in
      let queue = engine.configuration.queue
      let error = #expect(throws: NetworkError.self) { try queue.configure { $0.splitsHotOrigins = false } }
      #expect(error?.code == .invalidConfiguration && error?.reason == "splitsHotOrigins")
      #expect(queue.configuration.splitsHotOrigins)
      let jar = try NetworkEngine(host: "a.example", on: queue) { $0.cookies = .inMemory }
      let places = (0..<50).map { queue.driver.number(for: "https://a.example/\($0)", of: jar) }
      #expect(Set(places).count == 1)
    }
  }

  @Test func `widths that are less than the loops are one each`() {
    var settings = NetworkQueue.Configuration()
    settings.sizing = .byLink(local: 9, cellular: 1)
    (settings.splitsHotOrigins, settings.maximumPerOrigin) = (true, .max)
    let part = settings.part(of: 4)
    #expect(part.sizing == .byLink(local: 2, cellular: 1) && part.maximumPerOrigin == .max / 4)
    settings.splitsHotOrigins = false
    #expect(settings.part(of: 4) == settings)
  }
}
