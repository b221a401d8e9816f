import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What threads of several loops hear and end together.
struct LoopsDeliveryTests {
  @Test func `a handler that comes beside the last ones is called behind them`() async throws {
    try await withTwoLoops(delivery: .loopThread) { engine, _, there in
      there.fallback(.text("ok"))
      let (isTold, isAdded, calls) = (Latch(), Latch(), Journal<String>())
      let operation = engine.operation(url: there.url("/"))
        .onCompletion { _ in
          isTold.open()
          isAdded.block()
        }
        .onCompletion { _ in calls.add("second") }
      engine.enqueue(operation)
      await isTold.opened()
      operation.onCompletion { _ in calls.add("third") }
      await engine.configuration.queue.onLoop { _ in }
      isAdded.open()
      #expect(await until { calls.entries.count == 2 })
      #expect(calls.entries == ["second", "third"])
    }
  }

  @Test func `the progress of a batch comes in order, and its end behind it`() async throws {
    try await withTwoLoops(delivery: .loopThread) { engine, here, there in
      for origin in [here, there] {
        origin.fallback(.text("ok"))
        origin.hold("/")
      }
      let (isTold, goesOn, calls, isOver) = (Latch(), Latch(), Journal<String>(), Latch())
      let second = engine.operation(url: there.url("/")).onCompletion { _ in isOver.open() }
      engine.enqueue([engine.operation(url: here.url("/")), second]).onProgress { progress in
        if progress.done == 1 {
          isTold.open()
          goesOn.block()
        }
        calls.add("\(progress.done)")
      }.onCompletion { _ in calls.add("end") }
      here.releaseAll()
      await isTold.opened()
      there.releaseAll()
      await isOver.opened()
      // Behind all that it has called
      let hasGoneOn = Latch()
      second.perform { _ in hasGoneOn.open() }
      await hasGoneOn.opened()
      goesOn.open()
      #expect(await until { calls.entries.count == 3 })
      #expect(calls.entries == ["1", "2", "end"])
    }
  }

  @Test func `what waits for one that the deadline ends does not begin, however late its loop is`()
    async throws
  {
    try await withWaiting { engine, first, second, there in
      let (isBusy, goesOn) = (Latch(), Latch())
      second.perform { _ in
        isBusy.open()
        goesOn.block()
      }
      await isBusy.opened()
      await shutDown(engine, first, second, there, releasing: goesOn)
    }
  }

  @Test func `nothing begins on a loop that comes to it when the deadline has passed`() async throws {
    let (isBusy, goesOn) = (Latch(), Latch())
    try await withWaiting(before: { engine, there in
      engine.driver.port(for: there.url("/"), of: engine).perform { _ in
        isBusy.open()
        goesOn.block()
      }
      await isBusy.opened()
    }) { engine, first, second, there in
      await shutDown(engine, first, second, there, releasing: goesOn)
    }
  }

  /// A loop counts from the beginning of its turn.
  @Test func `nothing begins behind a deadline that a loop's own time brings a moment earlier`() async throws
  {
    try await withWaiting { engine, first, second, there in
      let isShut = Latch()
      first.perform { _ in
        let begun = MonotonicClock.now
        while MonotonicClock.now < begun + 3_000 {}
        engine.shutDown(deadline: .milliseconds(50)) { isShut.open() }
      }
      #expect(await second.end().code == .engineClosed)
      #expect(there.requestCount == 0)
      await isShut.opened()
    }
  }

  @Test func `a completion that is added beside the last ones of a batch is called behind them`() async throws
  {
    try await withTwoLoops(delivery: .loopThread) { engine, _, there in
      there.fallback(.text("ok"))
      there.hold("/")
      let (isTold, isAdded, calls) = (Latch(), Latch(), Journal<String>())
      let batch = engine.enqueue([engine.operation(url: there.url("/"))])
        .onCompletion { _ in
          isTold.open()
          isAdded.block()
        }
        .onCompletion { _ in calls.add("second") }
      there.releaseAll()
      await isTold.opened()
      batch.onCompletion { _ in calls.add("third") }
      await engine.configuration.queue.onLoop { _ in }
      isAdded.open()
      #expect(await until { calls.entries.count == 2 })
      #expect(calls.entries == ["second", "third"])
    }
  }

  /// One operation that is held at its origin, and one for an origin of the other loop that waits for its end.
  private func withWaiting(
    before: (NetworkEngine, ScriptedOrigin) async -> Void = { _, _ in },
    _ body: (NetworkEngine, NetworkOperation, NetworkOperation, ScriptedOrigin) async throws -> Void
  ) async throws {
    try await withTwoLoops { engine, here, there in
      there.fallback(.text("ok"))
      here.hold("/1")
      await before(engine, there)
      let first = engine.start(engine.operation(url: here.url("/1")))
      let second = engine.operation(url: there.url("/2"), method: .post).addDependency(first)
      engine.enqueue(second)
      #expect(await here.waitForWaiting("/1", 1))
      try await body(engine, first, second, there)
      here.releaseAll()
    }
  }

  /// The loop of the second is busy until the deadline has ended the first.
  private func shutDown(
    _ engine: NetworkEngine, _ first: NetworkOperation, _ second: NetworkOperation, _ there: ScriptedOrigin,
    releasing goesOn: Latch
  ) async {
    async let isShut: Void = engine.shutDown(deadline: .milliseconds(50))
    #expect(await first.end().code == .engineClosed)
    goesOn.open()
    #expect(await second.end().code == .engineClosed)
    #expect(there.requestCount == 0)
    await isShut
  }
}
