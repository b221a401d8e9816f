import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What is held at once, what is new later, in the same handler.
struct CachedThenFreshTests {
  @Test func `confirmed, the second completion says so`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .status(304).header("ETag", "\"a\""))
      #expect(
        await engine.hears("/a", .cachedThenFresh) == ["early old cache", "not modified", "old revalidated"])
      #expect(origin.requests.last?.header("If-None-Match") == "\"a\"")
    }
  }

  @Test(arguments: [("same", true), ("other", false)])
  func `an operation that wants changes only hears of changes only`(name: String, isSame: Bool) async throws {
    try await withStale { engine, origin in
      for answer in [isSame ? Answer.status(304) : .text("new"), .text(isSame ? "old" : "newer")] {
        origin.on("/a", answer)
        let operation = engine.operation(path: "/a").configure {
          $0.cachePolicy = .cachedThenFresh
          $0.notifiesOnlyChanges = true
        }
        let all = await engine.hears(operation)
        // Whoever waits for the end hears that nothing has changed
        #expect((all.last == "not modified") == isSame)
        let heard = all.filter { $0 != "not modified" }
        #expect(heard.count == (isSame ? 1 : 2))
        #expect(heard.first?.hasPrefix("early") == true)
        #expect(operation.state == .finished)
      }
    }
  }

  @Test func `a part of what is held is no other than without the wish for changes`() async throws {
    try await withCache { engine, origin, _ in
      origin.on(
        "/a", Answer.text("0123456789").header("Cache-Control", "max-age=100").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      let operation = engine.operation(path: "/a").configure {
        $0.cachePolicy = .cachedThenFresh
        $0.notifiesOnlyChanges = true
        $0.headers["Range"] = "bytes=2-4"
      }
      let ending = await engine.end(of: operation)
      #expect(ending.text == "234" && origin.requestCount == 1, "\(ending)")
    }
  }

  @Test func `a handler that comes between the two hears the second, changed or not`() async throws {
    try await withStale { engine, origin in
      origin.hold("/a", .status(304))
      let (early, late, both) = (Latch(), Latch(), Journal<Bool>())
      let operation = engine.operation(path: "/a").configure {
        $0.cachePolicy = .cachedThenFresh
        $0.notifiesOnlyChanges = true
      }
      operation.onCompletion {
        both.add($0.isFinal)
        early.open()
      }
      engine.enqueue(operation)
      await early.opened()
      operation.onCompletion { if $0.isFinal { late.open() } }
      #expect(await origin.waitForWaiting("/a", 1))
      origin.release("/a")
      await late.opened()
      #expect(both.entries == [false])
    }
  }

  @Test func `the second may be an error`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .status(500))
      #expect(await engine.hears("/a", .cachedThenFresh) == ["early old cache", "status"])
      origin.on("/a", .text("whole").closeAfter(2))
      #expect(await engine.hears("/a", .cachedThenFresh) == ["early old cache", "bodyTruncated"])
    }
  }

  @Test func `the early answer comes before the origin has said anything`() async throws {
    try await withStale { engine, origin in
      origin.hold("/a")
      let early = Latch()
      let states = Journal<NetworkOperation.State>()
      let operation = engine.operation(path: "/a").onStateChange { states.add($0) }
      operation.cachePolicy = .cachedThenFresh
      operation.onCompletion { if !$0.isFinal { early.open() } }
      let ending = Task { try await engine.response(for: operation) as NetworkResponse }
      await early.opened()
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 1))
      #expect(operation.state == .revalidating)
      origin.release("/a")
      let final = try await ending.value
      #expect(final.isFinal)
      #expect(states.entries == [.queued, .revalidating, .finished])
    }
  }

  @Test(arguments: [true, false])
  func `all who ask hear both, or once where nothing changed`(isNew: Bool) async throws {
    try await withStale { engine, origin in
      origin.on("/a", isNew ? .text("new") : .status(304))
      let heard = Journal<String>()
      let operations = (0..<100).map { _ in engine.operation(path: "/a") }
      for operation in operations {
        operation.configure {
          $0.cachePolicy = .cachedThenFresh
          $0.notifiesOnlyChanges = !isNew
        }
        operation.onCompletion { heard.add("\($0.text ?? "") \($0.isFinal)") }
      }
      await engine.share("/a", at: origin, operations)
      for operation in operations { _ = try await engine.response(for: operation) as NetworkResponse }
      #expect(heard.entries.count { $0 == "old false" } == 100)
      #expect(heard.entries.count { $0 == "new true" } == (isNew ? 100 : 0) && heard.count <= 200)
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [true, false])
  func `streams get one body, the new one if there is one`(isUp: Bool) async throws {
    try await withStale { engine, origin in
      if isUp { origin.on("/a", .text("new")) } else { origin.stop() }
      let stream = MemoryDownloadStream()
      let operation = engine.operation(path: "/a").addDownloadStream(stream)
      operation.cachePolicy = .cachedThenFresh
      #expect(await engine.hears(operation) == [isUp ? " network" : " cache"])
      #expect(String(decoding: stream.bytes, as: UTF8.self) == (isUp ? "new" : "old"))
    }
  }

  @Test func `a single early answer, however many exchanges`() async throws {
    try await withStale { engine, origin in
      origin.on("/b", .text("there").header("Cache-Control", "max-age=0"))
      _ = await engine.fetch("/b")
      origin.on("/a", .redirect(to: "/b"))
      origin.on("/b", .text("then"))
      #expect(await engine.hears("/a", .cachedThenFresh) == ["early old cache", "then network"])
    }
  }
}

/// With "old" held at `/a`, stale, with an ETag.
func withStale(
  policy: NetSpool.CachePolicy = .automatic, _ fields: String = "max-age=10",
  engine configure: (inout NetworkEngine.Configuration) -> Void = { _ in },
  _ body: (NetworkEngine, ScriptedOrigin) async throws -> Void
) async throws {
  try await withCache(policy: policy, engine: configure) { engine, origin, clock in
    origin.on("/a", .text("old").header("Cache-Control", fields).header("ETag", "\"a\""))
    #expect(await engine.fetch("/a").text == "old")
    clock.advance(seconds: 20)
    try await body(engine, origin)
  }
}
