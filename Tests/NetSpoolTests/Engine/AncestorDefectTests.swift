import NetSpool
import NetSpoolTesting
import Synchronization
import Testing

@testable import TestSupport

/// What MKNetworkKit got wrong, one test for each.
struct AncestorDefectTests {
  // MARK: Frozen requests

  @Test func `emptying the cache leaves frozen requests`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.stop()
    try await fixture.live { engine in
      var cache = CacheConfiguration()
      cache.directory = fixture.folder.path + "/cache"
      try engine.useCache(cache)
      _ = await engine.freeze(engine.letter("/letters"))
      engine.emptyCache()
      #expect(engine.frozenOperations.count == 1)
    }
  }

  @Test func `a thawed request survives a second outage`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on("/letters", .text("taken"))
    fixture.origin.stop()
    try await fixture.live { engine in _ = await engine.freeze(engine.letter("/letters")) }
    try await fixture.live { engine in #expect(engine.frozenOperations.count == 1) }
    try fixture.origin.start()
    try await fixture.live { engine in
      let text = await withCheckedContinuation { continuation in
        try? engine.onThawed { continuation.resume(returning: (try? $0.result.get())?.text) }
      }
      #expect(text == "taken")
    }
  }

  @Test func `a frozen request is on the disk until its answer is`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on("/letters", .text("taken"))
    fixture.origin.hold("/letters")
    try await fixture.live { engine in
      let operation = engine.letter("/letters")
      _ = await engine.freeze(operation)
      #expect(await fixture.origin.waitForHits("/letters", 1))
      #expect(engine.frozenOperations.map(\.isBeingSent) == [true])
      fixture.origin.release("/letters")
      #expect(await operation.end().text == "taken")
      #expect(engine.frozenOperations.isEmpty)
    }
  }

  @Test func `freezing leaks no slot`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on(prefix: "/", .text("taken"))
    let rounds = LongRun.isOn ? 20_000 : 200
    try await fixture.live { engine in
      for round in 0..<rounds {
        let letter = engine.letter("/\(round)")
        letter.configure { $0.freezing.lane = "\(round)" }
        if round % 2 == 0 {
          #expect(await engine.end(of: letter).text == "taken")
        } else {
          _ = await engine.freeze(letter)
          letter.cancel()
          _ = await letter.end()
        }
      }
      let queue = engine.configuration.queue
      #expect(await blocking { queue.drainAndWait(deadline: .seconds(30)) })
      // An attempt whose letter is gone ends by itself.
      for _ in 0..<1_000 where queue.activity.running > 0 { await engine.settle() }
      #expect(queue.activity.running == 0 && queue.activity.frozen == 0)
      // Every slot is free: as many as before run at once
      fixture.origin.on("/held", .text("held"))
      fixture.origin.hold("/held")
      let operations = (0..<16).map { _ in engine.operation(path: "/held") }
      for operation in operations {
        operation.configure { $0.coalesces = false }
        engine.enqueue(operation)
      }
      #expect(await fixture.origin.waitForHits("/held", 16))
      fixture.origin.release("/held", count: 16)
      for operation in operations { #expect(await operation.end().text == "held") }
    }
  }

  @Test func `no password is in the store`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.stop()
    try await fixture.live { engine in
      let address = fixture.origin.url("/letters").replacingScheme(with: "http://anna:PLANTED-1@")
      let withUser = engine.operation(url: address, method: .post).setHeader("Cookie", "id=PLANTED-2")
      withUser.isFreezable = true
      _ = await engine.freeze(withUser)
      let withCredentials = engine.letter("/letters").setCredentials(
        .basic(user: "anna", password: "PLANTED-3"))
      withCredentials.setHeader("X-Auth-Token", "PLANTED-4")
      _ = await engine.freeze(withCredentials)
      #expect(engine.frozenOperations.count == 2)
    }
    let store = fixture.folder.path + "/frozen/data.mdb"
    #expect(try TestFiles.file(store, holds: "/letters") && !TestFiles.file(store, holds: "PLANTED"))
  }

  // MARK: The queue

  @Test func `a shared request is not queued again`() async throws {
    try await withEngine { engine, origin in
      origin.on("/page", .text("here"))
      origin.hold("/page")
      let tally = Tally()
      let operations = (0..<10).map { _ in engine.operation(path: "/page") }
      for operation in operations {
        tally.watch(operation)
        engine.enqueue(operation)
      }
      await engine.settle()
      origin.release("/page")
      await tally.wait(for: 10)
      #expect(tally.isOneEach && tally.count("completed") == 10)
      #expect(origin.hits("/page") == 1)
    }
  }

  @Test func `an engine that is stuck does not hold up another`() async throws {
    try await withEngine { engine, origin in
      origin.on("/held", .text("late"))
      origin.hold("/held")
      let stuck = (0..<64).map { _ in engine.operation(path: "/held") }
      for operation in stuck {
        operation.configure { $0.coalesces = false }
        engine.enqueue(operation)
      }
      let neighbour = try ScriptedOrigin()
      neighbour.on("/page", .text("here"))
      let other = try NetworkEngine(to: neighbour, on: engine.configuration.queue)
      #expect(await other.get("/page").end().text == "here")
      origin.release("/held", count: 64)
      for operation in stuck { #expect(await operation.end().text == "late") }
    }
  }

  // MARK: The cache

  @Test func `what must not be stored is not on the disk`() async throws {
    let folder = try TestFolder()
    try await withCache {
      $0.directory = folder.path
    } _: { engine, origin, _ in
      origin.on("/secret", .text("PLANTED").header("Cache-Control", "no-store"))
      #expect(await engine.fetch("/secret").text == "PLANTED")
      origin.on("/seen", .text("seen").header("Cache-Control", "max-age=60"))
      #expect(await engine.fetch("/seen").text == "seen")
      await blocking { engine.flushCache() }
    }
    let store = folder.path + "/data.mdb"
    #expect(try TestFiles.file(store, holds: "/seen") && !TestFiles.file(store, holds: "PLANTED"))
  }

  @Test func `a confirmed answer is fresh again and whole`() async throws {
    try await withCache { engine, origin, clock in
      origin.on("/page") { request in
        request.header("If-None-Match") == "\"v1\""
          ? .status(304).header("ETag", "\"v1\"").header("Cache-Control", "max-age=60")
          : .text("the body").header("ETag", "\"v1\"").header("Cache-Control", "max-age=60")
      }
      #expect(await engine.fetch("/page").text == "the body")
      clock.advance(seconds: 61)
      #expect(await engine.fetch("/page").text == "the body")
      clock.advance(seconds: 59)
      #expect(await engine.fetch("/page").text == "the body")
      #expect(origin.hits("/page") == 2)
    }
  }

  @Test func `a forced reload never shows what is stored`() async throws {
    try await withCache { engine, origin, _ in
      origin.enqueue(.text("old").header("Cache-Control", "max-age=60"), .text("new"), for: "/page")
      #expect(await engine.fetch("/page").text == "old")
      let texts = Journal<String?>()
      let operation = engine.operation(path: "/page").onCompletion { texts.add($0.text) }
      engine.enqueue(operation, forceReload: true)
      _ = await operation.end()
      #expect(texts.entries == ["new"])
    }
  }

  // MARK: Exchanges

  @Test func `a stream that takes little loses nothing`() async throws {
    try await withEngine { engine, origin in
      origin.on("/long", .pattern(100))
      let stream = RecordingStream(onWrite: { _ in 1 })
      let operation = engine.operation(path: "/long").addDownloadStream(stream)
      #expect(await engine.end(of: operation).response != nil)
      #expect(stream.log.bytes == BodyPattern.bytes(100))
    }
  }

  @Test(.needsNginx) func `a certificate without a known authority is refused`() async throws {
    let server = try NginxServer.shared()
    try await withQueue { queue in
      var configuration = NetworkEngine.Configuration()
      configuration.queue = queue
      let engine = try NetworkEngine(configuration: configuration)
      let operation = engine.operation(url: server.tlsURL("/hello.txt"))
      #expect(await engine.end(of: operation).code == .tlsRejected)
    }
  }

  @Test(arguments: [300, 304, 305, 306, 399]) func `every redirection has one ending`(status: Int)
    async throws
  {
    try await withEngine { engine, origin in
      origin.on("/odd", .status(status))
      let tally = Tally()
      let operation = engine.operation(path: "/odd")
      tally.watch(operation)
      engine.enqueue(operation)
      await tally.wait(for: 1)
      await engine.settle()
      #expect(tally.ended == 1)
    }
  }

  @Test func `a part that holds the boundary is sent whole`() async throws {
    try await withEngine { engine, origin in
      origin.on("/form", .text("ok"))
      let first = engine.operation(path: "/form").addData(Array("one".utf8), forKey: "a")
      #expect(await engine.end(of: first).text == "ok")
      let type = try #require(origin.requests.first?.header("Content-Type"))
      let boundary = try #require(type.split(separator: "=").last.map(String.init))
      // A boundary that was used once is in the next body
      let second = engine.operation(path: "/form").addData(Array("--\(boundary)--\r\n".utf8), forKey: "a")
      #expect(await engine.end(of: second).text == "ok")
      let sent = try #require(origin.requests.last)
      #expect(sent.header("Content-Type") != type)
      #expect(sent.text.contains("--\(boundary)--"))
    }
  }

  @Test func `the user agent is sent without other fields`() async throws {
    try await withEngine { engine, origin in
      origin.on("/", .text("ok"))
      _ = await engine.get("/").end()
      #expect(origin.requests.first?.header("User-Agent")?.isEmpty == false)
    }
  }
}

extension String {
  fileprivate func replacingScheme(with scheme: String) -> String { scheme + dropFirst("http://".count) }
}
