import Dispatch
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

struct ShutDownTests {
  private static let many = LongRun.isOn ? 10_000 : 1_000

  /// Who says that it is to end.
  enum Caller: CaseIterable, Sendable { case otherThread, severalThreads, loopThread, deliveryQueue }

  @Test(arguments: Caller.allCases)
  func `all that are under way end soon, whatever ends them`(caller: Caller) async throws {
    try await withEngine(
      { if caller == .loopThread { $0.delivery = .loopThread } }, queue: { $0.sizing = .fixed(64) },
      alone: true
    ) { engine, origin in
      origin.hold("/held")
      let tally = Tally()
      for number in 0..<Self.many {
        tally.start(engine.operation(path: "/held", parameters: ["n": "\(number)"]))
      }
      #expect(await origin.waitForWaiting("/held", 64))
      switch caller {
      case .otherThread:
        await blocking { engine.shutDownAndWait(deadline: .seconds(0)) }
        // All have been told when it returns.
        #expect(tally.ended == Self.many)
      case .severalThreads:
        await withTaskGroup { group in
          for _ in 0..<8 {
            group.addTask { await blocking { engine.shutDownAndWait(deadline: .seconds(0)) } }
          }
        }
      case .loopThread, .deliveryQueue:
        // Its own end is a closure of the engine's.
        let operation = engine.operation(path: "/not-sent").onError { _ in
          engine.shutDownAndWait(deadline: .seconds(0))
        }
        engine.enqueue(operation)
        operation.cancel()
      }
      await tally.wait(for: Self.many)
      #expect(tally.count("engineClosed") == Self.many && tally.isOneEach)
    }
  }

  @Test func `what runs may end until the deadline, and nothing new is taken`() async throws {
    try await withEngine { engine, origin in
      let running = await engine.held("/a", .text("in time"), at: origin)
      async let down: Void = blocking { engine.shutDownAndWait(deadline: .seconds(60)) }
      while await engine.end(of: engine.operation(path: "/new")).code != .engineClosed {}
      origin.release("/a")
      await down
      #expect(await running.end().text == "in time")
    }
  }

  @Test func `a shorter deadline may follow a longer one, and again, from several threads`() async throws {
    try await withEngine { engine, origin in
      let running = await engine.held("/a", at: origin)
      async let patient: Void = blocking { engine.shutDownAndWait(deadline: .seconds(Int64.max)) }
      async let again: Void = blocking { engine.shutDownAndWait(deadline: .seconds(0)) }
      engine.shutDownAndWait(deadline: .seconds(0))
      await patient
      await again
      #expect(await running.end().code == .engineClosed)
    }
  }

  @Test func `other engines of the queue go on`() async throws {
    try await withEngine { engine, origin in
      origin.hold("/a", .text("ok"))
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue)
      let mine = engine.start("/a")
      let theirs = other.start("/a")
      #expect(await origin.waitForWaiting("/a", 2))
      engine.shutDownAndWait(deadline: .seconds(0))
      origin.release("/a")
      #expect(await mine.end().code == .engineClosed)
      #expect(await theirs.end().text == "ok")
    }
  }

  @Test(arguments: [true, false])
  func `operations end with their engine and with their queue, wherever they are`(closesQueue: Bool)
    async throws
  {
    try await withEngine { engine, origin in
      origin.on("/long", .pattern(100_000).stallAfter(50_000))
      origin.hold("/held")
      let (tally, paused) = (Tally(), Latch())
      // Given one that waits for another attempt, one for that, one that is paused, some that run and some that wait
      let again = await engine.waitingAgain("/again", at: origin)
      tally.watch(again)
      let blocked = engine.operation(path: "/blocked").addDependency(again)
      let long = engine.operation(path: "/long").onStateChange { if $0 == .paused { paused.open() } }
      long.onDownloadProgress { _ in long.pause() }
      let held = (0..<50).map { engine.operation(path: "/held", parameters: ["n": "\($0)"]) }
      for operation in [blocked, long] + held { tally.start(operation) }
      await paused.opened()
      #expect(await origin.waitForHits("/held", 1))
      if closesQueue {
        #expect(engine.configuration.queue.driver.close() == 0)
        await tally.wait(for: 53)
      } else {
        engine.shutDownAndWait(deadline: .seconds(0))
      }
      #expect(tally.count("engineClosed") == 53 && tally.isOneEach)
    }
  }

  @Test(arguments: [1, 4]) func `it ends while its queue is being closed`(loops: Int) async throws {
    try await withEngine({ $0.delivery = .loopThread }, queue: { $0.loops = .fixed(loops) }) {
      engine, origin in
      origin.hold("/held")
      let done = Latch()
      // The last closures of a loop run behind all that it still looks for.
      let held = engine.operation(path: "/held").onError { _ in
        engine.shutDown(deadline: .zero) { done.open() }
      }
      engine.enqueue(held)
      #expect(await origin.waitForWaiting("/held", 1))
      await blocking { engine.configuration.queue.close() }
      await done.opened()
    }
  }

  /// It would wait for a closure of its own.
  @MainActor @Test func `a main thread that delivers is not blocked`() throws {
    let engine = try NetworkEngine(host: "127.0.0.1", on: NetworkQueue()) { $0.delivery = .queue(.main) }
    engine.shutDownAndWait()
    let other = try NetworkEngine(host: "127.0.0.1", on: NetworkQueue())
    other.shutDownAndWait()
  }

  @Test func `streams of an operation that comes when the queue has closed are closed`() async throws {
    try await withEngine { engine, origin in
      #expect(engine.configuration.queue.driver.close() == 0)
      let calls = Journal<String>()
      let operation = engine.operation(path: "/a").addDownloadStream(NotingStream(calls))
      #expect(await engine.end(of: operation).code == .engineClosed)
      #expect(calls.entries == ["close engineClosed"])
    }
  }

  @Test func `operations that come while the queue closes end once`() async throws {
    for _ in 0..<20 {
      try await withEngine { engine, origin in
        origin.on("/a", .text("ok"))
        let tally = Tally()
        let sender = Task.detached {
          for _ in 0..<200 { tally.start(engine.operation(path: "/a").configure { $0.coalesces = false }) }
        }
        _ = await engine.end(of: engine.operation(path: "/a"))
        #expect(engine.configuration.queue.driver.close() == 0)
        await sender.value
        await tally.wait(for: 200)
        #expect(tally.ended == 200 && tally.isOneEach)
      }
    }
  }
}
