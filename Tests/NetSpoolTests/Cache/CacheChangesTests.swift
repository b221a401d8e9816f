import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What an unsafe request changes, while others ask for the same resource.
struct CacheChangesTests {
  @Test func `an answer that was asked for before a POST is not stored, and no request joins it after`()
    async throws
  {
    try await withCache { engine, origin, _ in
      try await expectApart(engine, origin) {
        await engine.end(of: engine.operation(path: "/a", method: .post).setHeader("X-CSRF-Token", "1")).text
      }
      #expect(await engine.fetch("/a").text == "new")
      #expect(await engine.fetch("/a").response?.source == .cache)
    }
  }

  /// The resource changes while its old state is on its way: that comes to its own request, and to none after it.
  private func expectApart(
    _ engine: NetworkEngine, _ origin: ScriptedOrigin, _ change: () async throws -> String?
  ) async throws {
    origin.on("/a", cacheable("old").fault(.gate("body"), at: .body(1)))
    let early = engine.start("/a")
    #expect(await origin.waitForWaiting("body", 1))
    origin.on("/a", .text("changed"))
    let answer = try await change()
    #expect(answer == "changed")
    origin.on("/a", cacheable("new"))
    #expect(await engine.fetch("/a").text == "new")
    origin.release("body")
    #expect(await early.end().text == "old")
  }

  /// Neither memory nor the disk has them any more.
  @Test(arguments: ["all", "url", "prefix", "tag"])
  func `the body of an answer that is removed is let go of`(way: String) async throws {
    let folder = try TestFolder()
    try await withCache({ $0.directory = folder.path }) { engine, origin, _ in
      origin.on("/a", Answer.pattern(100_000).header("Cache-Control", "max-age=1000"))
      for number in 0..<3 {
        let operation = engine.operation(path: "/a")
        // What brings nothing but its URL is remembered.
        if number == 0 { operation.tag = "t" }
        _ = await engine.end(of: operation)
        await blocking { engine.flushCache() }
      }
      let bodies = folder["bodies"] + "/"
      @Sendable func isMapped() -> Bool { ((try? TestFiles.text("/proc/self/maps")) ?? "").contains(bodies) }
      #expect(isMapped())
      await blocking {
        switch way {
        case "all": engine.emptyCache()
        case "url": engine.removeCached(url: origin.url("/a"))
        case "prefix": engine.removeCached(prefix: origin.url("/"))
        default: engine.removeCached(tag: "t")
        }
      }
      #expect(await until { !isMapped() })
    }
  }

  @Test func `a GET under way is neither joined nor stored once another process has changed its resource`()
    async throws
  {
    let folder = try TestFolder()
    try await withCache({ $0.directory = folder.path }) { engine, origin, clock in
      let remote = try RemoteEngine(in: folder)
      async let other = #expect(processExitsWith: .success) {
        [path = folder.path as String, port = origin.port as Int] in
        try await RemoteEngine.serve(in: path, port: port)
      }
      try await expectApart(engine, origin) {
        try await remote.perform(.init(method: .post, path: "/a", now: clock.now)).text
      }
      #expect(await engine.fetch("/a").text == "new")
      #expect(await engine.fetch("/a").response?.source == .cache)
      try remote.quit()
      _ = await other
    }
    _ = folder
  }

  @Test func `without a cache no request joins what was asked for before a POST either`() async throws {
    try await withEngine { engine, origin in
      try await expectApart(engine, origin) {
        await engine.end(of: engine.operation(path: "/x/../a", method: .post)).text
      }
    }
  }

  enum Change: CaseIterable, Sendable { case post, removal, emptying }

  @Test(arguments: Change.allCases)
  func `a failed question does not bring back what was made worthless`(by change: Change) async throws {
    try await withStale { engine, origin in
      origin.on("/a", Answer.text("never").fault(.gate("head"), at: .head(1)).resetAfter(0))
      let asking = engine.start("/a")
      #expect(await origin.waitForWaiting("head", 1))
      origin.on("/a", .text("changed"))
      switch change {
      case .post: _ = await engine.end(of: engine.operation(path: "/a", method: .post))
      case .removal: engine.removeCached(url: origin.url("/a"))
      case .emptying: engine.emptyCache()
      }
      origin.release("head")
      #expect(await asking.end().text != "old")
    }
  }

  /// The completion waits for the disk for 50 ms, which a busy machine may pass for a while.
  @Test(arguments: [false, true])
  func `it is written before the POST's completion`(isCutOff: Bool) async throws {
    try await withCache { engine, origin, _ in
      let (waits, deadline) = (Journal<Int>(), Deadline.generous)
      repeat {
        for path in ["/a", "/b"] { origin.on(path, cacheable("old")) }
        for path in ["/a", "/b"] { _ = await engine.fetch(path, headers: ["Authorization": "Bearer 1"]) }
        origin.on("/a", Answer.text("changed").header("Location", "/b").closeAfter(isCutOff ? 2 : 100))
        let operation = engine.operation(path: "/a", method: .post)
        operation.onCompletion { _ in waits.add(engine.cacheStatistics?.pendingBytes ?? -1) }
        operation.onError { _ in waits.add(engine.cacheStatistics?.pendingBytes ?? -1) }
        _ = await engine.end(of: operation)
      } while waits.entries.last != 0 && deadline.millisecondsLeft > 0
      #expect(waits.entries.last == 0)
      for path in ["/a", "/b"] { #expect(await engine.isMissing(path, ["Authorization": "Bearer 1"])) }
    }
  }

  @Test func `another engine of the store does not see it either`() async throws {
    try await withCache { engine, origin, _ in
      let other = try NetworkEngine(to: origin, on: engine.configuration.queue) {
        $0.credentials = .basic(user: "u", password: "p")
      }
      try other.useCache(engine.sharedCache)
      origin.on("/a", cacheable("old"))
      _ = await other.fetch("/a")
      #expect(await other.fetch("/a").response?.source == .cache)
      origin.on("/a", cacheable("new"))
      _ = await engine.end(
        of: engine.operation(url: "http://x:y@127.0.0.1:\(origin.port)/x/%2e%2e/a", method: .delete))
      #expect(await other.fetch("/a").text == "new")
    }
  }

  @Test func `fifty that differ in what does not choose ask once`() async throws {
    try await withStale { engine, origin in
      // However slow the machine is
      engine.driver.eachLoop { $0.cacheSide.validations.milliseconds = 600_000 }
      origin.hold("/a", .status(304).header("ETag", "\"a\"").header("Cache-Control", "max-age=10"))
      let operations = (0..<50).map {
        engine.start(engine.operation(path: "/a").setHeader("X-Request-Id", "\($0)"))
      }
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 1))
      operations[10].cancel()
      origin.release("/a")
      for (number, operation) in operations.enumerated() {
        let ending = await operation.end()
        if number == 10 { #expect(ending.code == .cancelled) } else { #expect(ending.text == "old") }
      }
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test func `a request holds the others for a second at most`() async throws {
    try await withStale { engine, origin in
      let confirmed = Answer.status(304).header("ETag", "\"a\"").header("Cache-Control", "max-age=10")
      let first = await engine.held("/a", confirmed, at: origin)
      let others = (0..<3).map { engine.operation(path: "/a").setHeader("X-Request-Id", "\($0)") }
      for operation in others { engine.enqueue(operation) }
      let waits = await others[2].onLoop(after: .seconds(1.1)) {
        if case .validation? = others[2].currentWait?.reason { true } else { false }
      }
      #expect(!waits)
      #expect(await origin.waitForWaiting("/a", 4))
      first.cancel()
      origin.releaseAll()
      for operation in others { #expect(await operation.end().text == "old") }
    }
  }

  @Test func `fifty whose one question fails get what there is`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .text("new").header("Cache-Control", "no-store"))
      let operations = (0..<50).map { engine.operation(path: "/a").setHeader("X-Request-Id", "\($0)") }
      await engine.share("/a", at: origin, operations)
      for operation in operations { #expect(await operation.end().text == "new") }
      #expect(origin.hits("/a") == 51)
    }
  }
}

/// Who shares an exchange that is under way, and who does not.
struct LateJoiningTests {
  @Test(arguments: [("Cache-Control", "no-store"), ("Vary", "*")])
  func `an answer that may not be stored is for requests that came before its head`(_ field: (String, String))
    async throws
  {
    try await withEngine { engine, origin in
      let answer = Answer.text("secret").header(field.0, field.1)
      origin.on("/a", answer.fault(.gate("body"), at: .body(2)))
      let early = [engine.operation(path: "/a"), engine.operation(path: "/a")]
      await engine.share("/a", at: origin, early)
      #expect(await origin.waitForWaiting("body", 1))
      #expect(origin.hits("/a") == 1)
      origin.on("/a", .text("fresh"))
      // Its head is here once something of the body is.
      #expect(await early[0].hasHead(of: engine))
      #expect(await engine.fetch("/a").text == "fresh")
      origin.release("body")
      for operation in early { #expect(await operation.end().text == "secret") }
    }
  }

  @Test func `requests behind a download that cannot be joined share one of their own`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Answer.text("streamed").fault(.gate("body"), at: .body(2)))
      let download = engine.start(engine.operation(path: "/a").addDownloadStream(MemoryDownloadStream()))
      #expect(await origin.waitForWaiting("body", 1))
      #expect(await download.hasHead(of: engine))
      origin.hold("/a", .text("shared"))
      let operations = (0..<500).map { _ in engine.get("/a") }
      await engine.settle()
      let other = (0..<500).map { _ in engine.operation(path: "/a").configure { $0.cachePolicy = .reload } }
      for operation in other { engine.enqueue(operation) }
      await engine.settle()
      #expect(await origin.waitForWaiting("/a", 2))
      origin.releaseAll()
      for operation in operations + other { #expect(await operation.end().text == "shared") }
      #expect(await download.end().response != nil)
      #expect(origin.hits("/a") == 3)
    }
  }
}

extension NetworkOperation {
  /// Waits, turn by turn of the loop, until the head of its exchange has come.
  fileprivate func hasHead(of engine: NetworkEngine) async -> Bool {
    await until {
      await port.onLoop(of: engine.id) { [self] _ in loop.transfer?.exchange.head != nil }
    }
  }
}
