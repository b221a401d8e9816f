import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Equal requests share an exchange, also one that asks whether what is held still holds.
struct CacheCoalescingTests {
  @Test(arguments: [304, 200]) func `a thousand equal requests ask once`(status: Int) async throws {
    try await withStale { engine, origin in
      origin.on("/a", status == 304 ? .status(304).header("ETag", "\"a\"") : .text("new"))
      let tally = Tally()
      let (sources, unmodified) = (Journal<NetworkResponse.Source>(), Counter())
      let operations = (0..<1000).map { _ in
        engine.operation(path: "/a").onCompletion { sources.add($0.source) }
          .onNotModified { unmodified.add() }
      }
      for operation in operations { tally.watch(operation) }
      await engine.share("/a", at: origin, operations)
      await tally.wait(for: 1000)
      #expect(tally.count("completed") == 1000 && tally.isOneEach)
      #expect(origin.hits("/a") == 2)
      #expect(origin.requests.last?.header("If-None-Match") == "\"a\"")
      #expect(sources.entries.allSatisfy { $0 == (status == 304 ? .revalidated : .network) })
      #expect(unmodified.value == (status == 304 ? 1000 : 0))
    }
  }

  @Test func `requests that want something else of the cache go alone`() async throws {
    try await withStale { engine, origin in
      let asking = await engine.held("/a", .text("new"), at: origin)
      #expect(await engine.fetch("/a", .preferCached).text == "old")
      #expect(await engine.fetch("/a", .onlyIfCached).text == "old")
      let reload = engine.operation(path: "/a")
      engine.enqueue(reload, forceReload: true)
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 2))
      let named = engine.start(engine.operation(path: "/a").configure { $0.credentialScope = "x" })
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 3))
      origin.release("/a")
      for operation in [asking, reload, named] { #expect(await operation.end().text == "new") }
    }
  }

  @Test func `a request whose attempts are spent before those of others it shares with gets what is stale`()
    async throws
  {
    try await withCache { engine, origin, _ in
      let old = Answer.text("old").header("Cache-Control", "max-age=0, stale-if-error=60")
      let answers: [Answer] = [old, .status(503), .text("new")]
      let asked = Counter()
      origin.on("/a") { _ in answers[min(asked.add(), 3) - 1] }
      #expect(await engine.fetch("/a").text == "old")
      let operations = [NetworkRequest.Retry.attempts(2, pause: .milliseconds(1)), .none].map { retry in
        engine.operation(path: "/a").configure { $0.retry = retry }
      }
      await engine.share("/a", at: origin, operations)
      #expect(await operations[1].end().text == "old")
      #expect(await operations[0].end().text == "new")
      #expect(asked.value == 3)
    }
  }

  @Test func `a request that asks for itself is told 304, the others get the body`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .status(304).header("ETag", "\"a\""))
      let own = engine.operation(path: "/a").setHeader("If-None-Match", "\"a\"")
      let told = Counter()
      own.onNotModified { told.add() }
      let response = try #require(await engine.end(of: own).response)
      #expect(response.status == 304 && response.source == .network && response.body.count == 0)
      #expect(told.value == 1)
      #expect(await engine.fetch("/a").text == "old")
    }
  }
}
