import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What becomes of operations while they look at a disk that hangs.
@Suite("Operations that look at a hung disk")
struct HungDiskEndingTests {
  /// One that looks for where a redirect has led, and how often it has ended, counted where the closures run.
  private static func withLooking(
    before: (NetworkEngine) -> Void = { _ in },
    _ body: (NetworkOperation, NetworkEngine, ScriptedOrigin, StoppedDisk, NetworkEngine, Counter)
      async throws -> Void
  ) async throws {
    // However busy the machine is, the look is not given up
    try await withStoppableDisk(patience: 600_000_000) { engine, origin, disk, other in
      origin.on("/a", .redirect(to: "/b"))
      origin.on("/b", cacheable("b"))
      #expect(await engine.fetch("/b").text == "b")
      await blocking { engine.flushCache() }
      origin.hold("/a")
      let (operation, ends) = (engine.operation(path: "/a"), Counter())
      operation.onFinal { _ in ends.add() }
      engine.enqueue(operation)
      #expect(await origin.waitForWaiting("/a", 1))
      before(engine)
      try await goesOn(other)
      disk.stop()
      origin.release("/a")
      await disk.isMissed()
      try await body(operation, engine, origin, disk, other, ends)
    }
  }

  enum Way: CaseIterable { case cancel, cancelAll, shutDown }

  @Test(arguments: Way.allCases) func `end at once and once`(_ way: Way) async throws {
    try await Self.withLooking { operation, engine, origin, disk, other, ends in
      // When it is ended meanwhile
      switch way {
      case .cancel: operation.cancel()
      case .cancelAll: engine.cancelAll()
      case .shutDown: await engine.shutDown(deadline: .milliseconds(50))
      }
      // Then it has ended at once, and hears of nothing when the disk goes on
      #expect(await operation.end().code == (way == .shutDown ? NetworkError.Code.engineClosed : .cancelled))
      #expect(disk.isStopped)
      disk.goOn()
      #expect(await until { engine.looksAgain })
      try await goesOn(other)
      #expect(ends.value == 1 && origin.hits("/b") == 1)
    }
  }

  @Test func `are paused, and look again when they are resumed`() async throws {
    try await Self.withLooking { operation, engine, origin, disk, other, ends in
      operation.pause()
      #expect(await until { operation.state == .paused })
      disk.goOn()
      #expect(await until { engine.looksAgain })
      try await goesOn(other)
      #expect(operation.state == .paused && ends.value == 0)
      operation.resume()
      #expect(await operation.end().text == "b")
      try await goesOn(other)
      #expect(ends.value == 1 && origin.hits("/b") == 1)
    }
  }

  @Test func `leave their exchange to those that share it`() async throws {
    var sharing: NetworkOperation?
    try await Self.withLooking(before: { sharing = $0.start("/a") }) { operation, _, origin, disk, _, ends in
      // When the first of two leaves
      operation.cancel()
      #expect(await operation.end().code == .cancelled)
      disk.goOn()
      // Then the other one goes on from there, and has its answer once the disk does
      let other = try #require(sharing)
      #expect(await other.end().text == "b")
      #expect(ends.value == 1 && origin.hits("/a") == 1 && origin.hits("/b") == 1)
    }
  }
}
