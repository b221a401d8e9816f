import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Stale answers that are served at once and renewed behind the caller's back (RFC 5861 section 3).
struct RefreshTests {
  @Test(arguments: [NetSpool.CachePolicy.automatic, .staleWhileRevalidate])
  func `a stale answer is renewed once while its callers go on`(_ policy: NetSpool.CachePolicy) async throws {
    try await withStale(policy: policy, "max-age=10, stale-while-revalidate=60") { engine, origin in
      origin.hold("/a", .text("new").header("Cache-Control", "max-age=100"))
      // Each is answered although the renewal hangs, and none starts another.
      for _ in 1...50 { #expect(await engine.fetch("/a").response?.source == .cache) }
      #expect(await origin.waitForWaiting("/a", 1))
      for _ in 1...50 { #expect(await engine.fetch("/a").text == "old") }
      #expect(origin.hits("/a") == 2)
      let activity = engine.configuration.queue.activity
      #expect(activity.queued + activity.running == 1, "\(activity)")
      #expect(origin.requests.last?.header("If-None-Match") == "\"a\"")
      origin.release("/a")
      await idle(engine)
      #expect(await engine.fetch("/a").text == "new")
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test func `a failed request is no other's business`() async throws {
    let unhandled = Journal<NetworkError.Code>()
    try await withStale(
      policy: .staleWhileRevalidate, engine: { $0.onUnhandledFailure = { unhandled.add($0.code) } }
    ) { engine, origin in
      origin.on("/a", .status(500))
      #expect(await engine.fetch("/a").text == "old")
      await idle(engine)
      origin.stop()
      #expect(await engine.fetch("/a").text == "old")
      await idle(engine)
      #expect(unhandled.entries.isEmpty)
      #expect(await engine.fetch("/a").text == "old")
    }
  }

  @Test func `a queue that closes takes the renewal with it`() async throws {
    try await withStale(policy: .staleWhileRevalidate) { engine, origin in
      origin.hold("/a")
      let gate = Latch()
      // All that follows is found by the loop in one go: what was asked, and the end.
      engine.homePort.perform { _ in gate.block() }
      let operation = engine.start("/a")
      engine.homePort.perform { $0.close() }
      gate.open()
      #expect(await blocking { engine.configuration.queue.driver.close() } == 0)
      // What was found more than a second ago is looked for again, and the end comes first.
      let ending = await operation.end()
      #expect(ending.text == "old" || ending.code == .engineClosed, "\(ending)")
    }
  }

  @Test func `shutting down waits for the renewal, or ends it`() async throws {
    try await withStale(policy: .staleWhileRevalidate) { engine, origin in
      origin.hold("/a")
      #expect(await engine.fetch("/a").text == "old")
      #expect(await origin.waitForWaiting("/a", 1))
      engine.shutDownAndWait(deadline: .seconds(0))
      #expect(!engine.configuration.queue.activity.isBusy)
    }
  }

  @Test func `a renewal counts as a question, not as an answer that was served`() async throws {
    try await withStale(policy: .staleWhileRevalidate) { engine, origin in
      origin.on("/a", .status(304).header("ETag", "\"a\"").header("Cache-Control", "max-age=100"))
      let served = await engine.fetch("/a").response
      await idle(engine)
      let statistics = try #require(engine.cacheStatistics)
      #expect(served?.text == "old" && served?.age == .seconds(20))
      #expect(statistics.served == 1 && statistics.validations == 1 && statistics.bytesSaved == 3)
      // What was confirmed is fresh again
      #expect(await engine.fetch("/a").response?.age == .zero)
      #expect(origin.hits("/a") == 2)
    }
  }

  /// Until the queue has nothing left to do.
  private func idle(_ engine: NetworkEngine) async {
    while engine.configuration.queue.activity.isBusy { await moment() }
  }
}
