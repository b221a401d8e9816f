import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A disk under the cache that answers no more: what is stored there cannot be had, and nothing else stands still.
@Suite("A hung disk under the cache")
struct HungDiskTests {
  /// How a loop comes to what is stored while an exchange is under way.
  enum Way: CaseIterable { case redirect, varying, part, unsafe, staleIfError, plain }

  @Test func `is not looked at for who asks behind a removal, by one who asked before it`() async throws {
    try await withStoppableDisk(patience: 60_000_000) { engine, origin, disk, _ in
      origin.on("/a", cacheable("old"))
      #expect(await engine.fetch("/a").text == "old")
      await blocking { engine.cache?.store.flush() }
      // Given a look that has found its entry, and not yet its body
      disk.stop(after: 1)
      let (early, late) = (engine.operation(path: "/a"), engine.operation(path: "/a"))
      engine.configuration.queue.driver.perform { _ in engine.enqueue(early) }
      await disk.isMissed()
      // When it is removed, and somebody asks
      origin.on("/a", cacheable("new"))
      await blocking { engine.removeCached(path: "/a") }
      engine.configuration.queue.driver.perform { _ in engine.enqueue(late) }
      await engine.settle()
      #expect(disk.isStopped)
      disk.goOn()
      // Then it is not answered with what was there
      #expect(await late.end().text == "new")
      #expect(await early.end().text != nil)
    }
  }

  /// It is given up after a second, and only then do those that read a body there ask for themselves.
  @Test func `sends no reader to the origin as long as it may yet go on`() async throws {
    try await withStoppableDisk { engine, origin, disk, _ in
      let count = 12 << 20
      origin.on(
        "/a",
        .pattern(count).header("Cache-Control", "max-age=1000").fault(.gate("middle"), at: .body(1 << 20)))
      let stream = PatternStream()
      let leader = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      #expect(await until { stream.count == 1 << 20 })
      let late = engine.start("/a")
      await engine.settle()
      // Given a disk that holds the download up
      disk.stop()
      origin.release("middle")
      // When others have been given its place
      let isReading = await leader.onLoop(when: { leader.loop.transfer?.exchange.hasYielded != false }) {
        if case .following = late.loop.phase { true } else { false }
      }
      #expect(isReading)
      #expect(await leader.onLoop(when: { true }) { leader.loop.transfer?.waitsForOwner != true })
      disk.goOn()
      #expect(await late.end().response?.body.count == count)
      #expect(await leader.end().response?.status == 200)
    }
  }

  @Test(arguments: Way.allCases)
  func `is nothing that a loop waits for`(_ way: Way) async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      var (request, text) = (engine.operation(path: "/a"), "a")
      switch way {
      case .redirect:
        origin.on("/a", .redirect(to: "/b"))
        origin.on("/b", cacheable("b"))
        text = "b"
      case .varying: origin.on("/a", cacheable("a").header("Vary", "X-Kind"))
      case .part:
        let part = Answer(status: 206, headers: ["Content-Range": "bytes 0-0/10"], body: .text("a"))
        origin.on("/a", part.header("ETag", "\"1\"").header("Cache-Control", "max-age=60"))
        request.configure { $0.headers.add("Range", "bytes=0-0") }
      case .unsafe:
        origin.on("/a", .text("a"))
        request = engine.operation(path: "/a", method: .post)
      case .staleIfError:
        origin.on(
          "/a", .text("a").header("Cache-Control", "max-age=0, stale-if-error=60").header("ETag", "\"1\""))
        #expect(await engine.fetch("/a").text == "a")
        origin.on("/a", .status(503))
        text = ""
      case .plain: origin.on("/a", cacheable("a"))
      }
      // Given an exchange under way
      origin.hold("/a")
      engine.enqueue(request)
      #expect(await origin.waitForWaiting("/a", 1))
      // When the disk stops, and then the answer comes
      disk.stop()
      origin.release("/a")
      // Then all others go on, and it ends without what is stored
      try await goesOn(other, beside: disk)
      let ending = await request.end()
      #expect(way == .staleIfError || ending.text == text)
      #expect(disk.isStopped)
    }
  }

  @Test func `keeps the operation that enqueues, and none that comes later`() async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      let first = await engine.held("/a", cacheable("a"), at: origin)
      // Given a thread that looks, and waits for the disk
      disk.stop()
      let kept = engine.operation(path: "/kept")
      async let enqueued: Void = blocking { engine.enqueue(kept) }
      await disk.isMissed()
      // Then what comes is stored, in memory, and who comes later is not kept
      origin.release("/a")
      try await goesOn(other, beside: disk)
      #expect(await first.end().text == "a")
      origin.on("/b", cacheable("b"))
      for _ in 0..<3 {
        let later = engine.operation(path: "/b")
        await blocking { engine.enqueue(later) }
        #expect(await later.end().text == "b")
      }
      #expect(disk.isStopped)
      disk.goOn()
      await enqueued
      _ = await kept.end()
    }
  }

  @Test func `is done without after a second, and found again once it goes on`() async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      // Given a stored answer behind a redirect, and a disk that stops
      origin.on("/a", .redirect(to: "/b"))
      origin.on("/b", cacheable("b"))
      #expect(await engine.redirected(from: "/a", at: origin).text == "b" && origin.hits("/b") == 1)
      // When it is looked for, then it is asked for again after a second, and soon without any wait
      let began = ContinuousClock.now
      let second = await engine.redirected(from: "/a", at: origin) { disk.stop() }
      #expect(second.text == "b" && origin.hits("/b") == 2)
      #expect(ContinuousClock.now - began >= .seconds(1))
      #expect(await engine.redirected(from: "/a", at: origin).text == "b")
      #expect(origin.hits("/b") == 3)
      // Nothing is given to a thread that waits for the disk
      #expect(await until { !engine.looksAgain })
      #expect(await engine.redirected(from: "/a", at: origin).text == "b")
      #expect(origin.hits("/b") == 4)
      #expect(disk.isStopped)
      // And once the disk goes on, it is found
      disk.goOn()
      #expect(
        await until {
          let before = origin.hits("/b")
          return await engine.redirected(from: "/a", at: origin).text == "b" && origin.hits("/b") == before
        })
    }
  }

  @Test func `is nothing that a loop waits for whose closures enqueue`() async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      // Given an engine whose closures run on the loop thread, and a stored answer that nobody has been given yet
      let loud = try NetworkEngine(to: origin, on: engine.configuration.queue) { $0.delivery = .loopThread }
      try loud.useCache(engine.sharedCache)
      origin.on("/a", cacheable("a"))
      #expect(await engine.fetch("/a").text == "a")
      await blocking { engine.flushCache() }
      // When one of them asks for it, and the disk has stopped
      let (first, second) = (loud.operation(path: "/other"), loud.operation(path: "/a"))
      first.onCompletion { _ in
        disk.stop()
        loud.enqueue(second)
      }
      loud.enqueue(first)
      await disk.isMissed()
      // Then others go on, and it is asked for again
      try await goesOn(other, beside: disk)
      #expect(await second.end().text == "a" && origin.hits("/a") == 2)
      #expect(disk.isStopped)
    }
  }

  @Test func `takes the spool of a body, and neither the body nor anybody else`() async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      let count = 8 << 20
      origin.hold("/a", .pattern(count).header("Cache-Control", "max-age=60").framed(.chunked(size: 65_536)))
      let stream = PatternStream()
      let operation = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      #expect(await origin.waitForWaiting("/a", 1))
      // When the disk stops before a long body comes to a stream
      disk.stop()
      origin.release("/a")
      await disk.isMissed()
      // Then others go on, and it comes, but is not stored
      try await goesOn(other, beside: disk)
      #expect(await operation.end().response?.status == 200 && stream.isWhole(count))
      #expect(disk.isStopped)
      disk.goOn()
      #expect(await engine.isMissing("/a"))
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
    }
  }

  @Test func `keeps a stream that is fed from it, and no other`() async throws {
    try await withStoppableDisk { engine, origin, disk, other in
      let body = String(repeating: "text ", count: 200_000)
      origin.on("/a", cacheable(body))
      #expect(await engine.fetch("/a").text == body)
      await blocking { engine.flushCache() }
      // Given a stored body that goes into a stream, and a disk that stops before it is read
      let stream = DiskStoppingStream(disk)
      let operation = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      await disk.isMissed()
      // Then others go on, and it does so with the disk
      try await goesOn(other, beside: disk)
      disk.goOn()
      #expect(await operation.end().response?.status == 200)
      #expect(stream.bytes.value == body.utf8.count)
    }
  }
}

private final class DiskStoppingStream: DownloadStream {
  let disk: StoppedDisk
  let bytes = Counter()

  init(_ disk: StoppedDisk) { self.disk = disk }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws { disk.stop() }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    self.bytes.add(bytes.byteCount)
    return .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {}
}
