import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// The room for streams is an engine's, whichever loops they are on.
extension LoopsTests {
  @Test func `all room for an engine's streams is there at one origin`() async throws {
    try await withQueue({ $0.loops = .fixed(4) }) { queue in
      let origin = try ScriptedOrigin(answering: .pattern(4 << 20))
      let engine = try NetworkEngine(on: queue)
      let stopped = engine.start((0..<100).map { engine.stopped(url: origin.url("/\($0)")) })
      #expect(await until { engine.budgets.streams.held == stopped.count }, "\(engine.budgets.streams)")
      engine.cancelAll()
      for operation in stopped { _ = await operation.end() }
    }
  }

  @Test func `the room that a stream gives back is another loop's as well`() async throws {
    try await withTwoLoops { engine, here, there in
      let driver = engine.configuration.queue.driver
      driver.eachLoop { $0.seats.rooms.streamsMax = 4 }
      for origin in [here, there] { origin.on(prefix: "/", .pattern(4 << 20)) }
      let stopped = engine.start((0..<4).map { engine.stopped(url: here.url("/\($0)")) })
      #expect(await until { engine.budgets.streams.held == 4 })
      let next = engine.start(
        engine.operation(url: there.url("/")).addDownloadStream(ClosureDownloadStream { _ in .accepted }))
      #expect(await until { engine.budgets.streams.waiting == 1 })
      #expect(there.requestCount == 0)
      stopped[0].cancel()
      #expect(await next.end().response?.status == 200)
      engine.cancelAll()
      for operation in stopped { _ = await operation.end() }
    }
  }
}

extension NetworkEngine {
  /// One whose stream takes nothing.
  fileprivate func stopped(url: String) -> NetworkOperation {
    operation(url: url).addDownloadStream(ClosureDownloadStream { _ in .pause })
  }
}
