import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

struct PauseTests {
  /// 350 KiB that come in one read, with a wrong checksum behind them.
  private static func broken() throws -> [UInt8] {
    var body = try Compressed.gzip(BodyPattern.bytes(50_000) + [UInt8](repeating: 7, count: 300 << 10))
    body[body.count - 8] ^= 1
    return body
  }

  /// It ends in time.
  private func fails(_ operation: NetworkOperation, _ limit: LoopLimit) async {
    limit.begin(for: operation)
    let ending = await operation.end()
    #expect(ending.code == .decodeFailed, "\(ending)")
    #expect(limit.isKept)
  }

  /// libcurl hands over inside curl_easy_pause(3) what it has kept, and tells of nobody what comes of that.
  @Test func `a failure that shows when a stream goes on is told at once`() async throws {
    try await withEngine({ ($0.delivery, $0.timeouts.stall) = (.loopThread, .seconds(30)) }) {
      engine, origin in
      // Given a stream that takes nothing until the whole answer is there
      origin.on("/a", .gzip(try Self.broken()))
      let (isOffered, takes, limit) = (Latch(), Flag(), LoopLimit(.milliseconds(100)))
      let stream = ClosureDownloadStream { _ in
        isOffered.open()
        return takes.isSet ? .accepted : .pause
      }
      let operation = engine.operation(path: "/a").addDownloadStream(stream).onError { _ in limit.keep() }
      engine.enqueue(operation)
      await isOffered.opened()
      for _ in 0..<20 { await engine.settle() }
      // When it goes on
      takes.set()
      stream.resume()
      await fails(operation, limit)
    }
  }

  @Test func `a failure that shows when an operation is resumed is told at once`() async throws {
    try await withEngine({ ($0.delivery, $0.timeouts.stall) = (.loopThread, .seconds(30)) }) {
      engine, origin in
      // Given one that is paused before the end of the answer comes
      let body = try Self.broken()
      origin.on("/a", Answer.gzip(body).fault(.gate("end"), at: .body(body.count - 20)))
      let limit = LoopLimit(.milliseconds(100))
      let operation = await engine.underWay("/a").onError { _ in limit.keep() }
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused)
      origin.release("end")
      // What is asked for behind it is answered behind it
      #expect(await engine.end(of: engine.operation(path: "/none")).code == .status)
      // When it is resumed
      operation.resume()
      await fails(operation, limit)
    }
  }

  /// A thousand to one, and that twice: what libcurl hands over at once would unfold to 64 MiB.
  @Test(arguments: [nil, 1_000] as [Int?])
  func `a stream that takes no more is given no more than it may be behind`(chunk: Int?) async throws {
    try await withEngine({ ($0.delivery, $0.timeouts.stall) = (.loopThread, .seconds(30)) }) {
      engine, origin in
      // Given one that stands still where the ratio is no limit any more
      let (start, bomb) = (1 << 20, 64 << 20)
      let body = SinkFixture.pattern(start) + [UInt8](repeating: 7, count: bomb)
      let packed = try Compressed.gzip(Compressed.gzip(body))
      let chunks = chunk.map { size in
        stride(from: 0, to: packed.count, by: size).map { Array(packed[$0..<min($0 + size, packed.count)]) }
      }
      let sent: AnswerBody = chunks.map { .chunks($0) } ?? .bytes(packed)
      origin.on("/a", Answer(headers: ["Content-Encoding": "gzip, gzip"], body: sent))
      let (seen, takes) = (Counter(), Flag())
      let stream = ClosureDownloadStream { bytes in
        guard seen.value < start || takes.isSet else { return .pause }
        seen.add(bytes.byteCount)
        return .accepted
      }
      let operation = engine.operation(path: "/a").addDownloadStream(stream)
      engine.enqueue(operation)
      #expect(await until { await operation.loopBytes() > start + (512 << 10) })
      for _ in 0..<20 { await engine.settle() }
      // Then no more is unfolded than 1 MiB behind that
      let unfolded = await operation.loopBytes()
      #expect(unfolded <= start + (1 << 20), "\(unfolded)")
      // And nothing is lost
      takes.set()
      stream.resume()
      let ending = await operation.end()
      #expect(seen.value == body.count, "\(ending)")
    }
  }

  @Test func `a hundred pauses leave every byte in its place`() async throws {
    try await withEngine { engine, origin in
      // Given a pause after every 10 KiB of a body, which goes on when that has been told
      let (count, step) = (1 << 20, 10 << 10)
      var answer = Answer.pattern(count)
      for place in stride(from: step, to: count, by: step) {
        answer = answer.fault(.gate("next"), at: .body(place))
      }
      origin.on("/a", answer)
      let (pauses, seen) = (Counter(), Counter())
      let operation = engine.operation(path: "/a")
      operation.onStateChange { state in
        if state == .paused {
          pauses.add()
          origin.release("next", count: 1)
          operation.resume()
        }
      }
      let stream = PatternStream { now in
        if now / step != seen.value / step { operation.pause() }
        seen.raise(to: now)
      }
      let ending = await engine.end(of: operation.addDownloadStream(stream))
      #expect(ending.response?.status == 200)
      #expect(stream.isWhole(count))
      #expect(pauses.value >= 100)
    }
  }

  @Test func `a pause frees the slot, and the paused one ends after it is resumed`() async throws {
    try await withEngine(queue: { $0.sizing = .fixed(1) }) { engine, origin in
      origin.on("/long", .pattern(100_000).fault(.gate("middle"), at: .body(50_000)))
      origin.on("/next", .text("next"))
      let long = await engine.underWay("/long")
      long.pause()
      await engine.settle()
      #expect(long.state == .paused)
      #expect(await engine.end(of: engine.operation(path: "/next")).text == "next")
      #expect(engine.configuration.queue.activity.running == 0)
      origin.release("middle")
      long.resume()
      #expect(await long.end().response?.body.count == 100_000)
    }
  }

  /// Which may be anything until it is enqueued: its loop is that of what is sent.
  @Test func `an operation that is paused before it is enqueued comes in when it is resumed`() async throws {
    try await withTwoLoops { engine, here, there in
      for origin in [here, there] { origin.fallback(.text("ok").header("Cache-Control", "max-age=60")) }
      let folder = try TestFolder(in: TestFiles.fast)
      try engine.useCache(.patient(folder.path))
      for origin in [here, there] {
        for hits in [1, 1] {  // the second time from the cache
          let operation = engine.operation(url: origin.url("/"))
          operation.pause()
          #expect(operation.placedPort == nil)
          engine.enqueue(operation)
          await engine.settle()
          #expect(operation.state == .paused)
          operation.resume()
          #expect(await operation.end().text == "ok")
          #expect(origin.hits("/") == hits)
        }
      }
      let operation = engine.operation(url: here.url("/"))
      operation.pause()
      operation.resume()
      #expect(await engine.end(of: operation).text == "ok")
    }
  }

  @Test func `an operation that waits is passed over until it is resumed`() async throws {
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      origin.on(prefix: "/", .text("hello"))
      let paused = Latch()
      let waiting = engine.operation(path: "/waiting").onStateChange { if $0 == .paused { paused.open() } }
      engine.enqueue(waiting)
      waiting.pause()
      await paused.opened()
      engine.configuration.queue.isSuspended = false
      #expect(await engine.end(of: engine.operation(path: "/other")).text == "hello")
      #expect(origin.hits("/waiting") == 0)
      waiting.resume()
      #expect(await waiting.end().text == "hello")
    }
  }

  @Test func `the time of a pause is not the origin's`() async throws {
    let limit = Duration.seconds(3)
    try await withEngine({ $0.timeouts.total = limit }) { engine, origin in
      origin.on("/a", .pattern(100_000).fault(.gate("middle"), at: .body(50_000)))
      let begin = ContinuousClock.now
      let operation = await engine.underWay("/a")
      operation.pause()
      await engine.settle()
      let pause = ContinuousClock.now
      // A timed-out operation of the same length is the clock.
      origin.on("/clock", .noAnswer)
      #expect(await engine.end(of: engine.operation(path: "/clock")).code == .timedOut)
      // It goes on for as long as it takes until its limits are looked at.
      let resumption = ContinuousClock.now
      operation.resume()
      try await Task.sleep(for: .milliseconds(200))
      origin.release("middle")
      let ending = await operation.end()
      // A machine under load may need all of the time that is not the pause's.
      let ownTime = pause - begin + (ContinuousClock.now - resumption)
      #expect(ending.response?.body.count == 100_000 || ownTime >= limit, "\(ending)")
    }
  }

  @Test func `the time of a pause is not one's own, who shares`() async throws {
    try await withEngine { engine, origin in
      let limit = Duration.seconds(2)
      let first = await engine.held("/a", .text("shared"), at: origin)
      let begin = ContinuousClock.now
      let operation = engine.operation(path: "/a")
      operation.timeouts.total = limit
      engine.enqueue(operation)
      await engine.settle()
      operation.pause()
      await engine.settle()
      let ownTime = ContinuousClock.now - begin
      let clock = engine.operation(path: "/a")
      clock.timeouts.total = limit
      #expect(await engine.end(of: clock).code == .timedOut)
      #expect(operation.state == .paused || ownTime >= limit)
      origin.release("/a")
      operation.resume()
      for operation in [first, operation] {
        let ending = await operation.end()
        #expect(ending.text == "shared" || operation !== first && ending.code == .timedOut, "\(ending)")
      }
    }
  }

  @Test func `the time of a pause does not count, though others go on with the exchange`() async throws {
    let limit = Duration.seconds(3)
    try await withEngine({ $0.timeouts.total = limit }) { engine, origin in
      let begin = ContinuousClock.now
      let first = await engine.held("/a", .text("shared"), at: origin)
      let second = engine.start("/a")
      await engine.settle()
      first.pause()
      await engine.settle()
      let pause = ContinuousClock.now
      try await Task.sleep(for: .seconds(2))
      let resumption = ContinuousClock.now
      first.resume()
      #expect(await second.end().code == .timedOut)
      try await Task.sleep(for: .milliseconds(200))
      origin.release("/a")
      let ending = await first.end()
      let ownTime = pause - begin + (ContinuousClock.now - resumption)
      #expect(ending.text == "shared" || ownTime >= limit, "\(ending)")
    }
  }

  @Test func `the time in the queue is not one's own behind a pause either`() async throws {
    let limit = Duration.seconds(1)
    try await withEngine(queue: { $0.isSuspended = true }) { engine, origin in
      origin.hold("/a", .text("shared"))
      let first = engine.operation(path: "/a")
      first.timeouts.total = limit
      engine.enqueue(first)
      let second = engine.start("/a")
      await engine.settle()
      first.pause()
      first.resume()
      try await Task.sleep(for: limit + .milliseconds(500))
      let begin = ContinuousClock.now
      engine.configuration.queue.isSuspended = false
      #expect(await origin.waitForWaiting("/a", 1))
      origin.release("/a")
      let ending = await first.end()
      #expect(ending.text == "shared" || ContinuousClock.now - begin >= limit, "\(ending)")
      #expect(await second.end().text == "shared")
    }
  }

  @Test func `a pause does not cut short what the origin has asked for`() async throws {
    try await withEngine({ $0.retry = .attempts(2) }) { engine, origin in
      origin.enqueue(.status(503).header("Retry-After", "1"), .text("now"), for: "/a")
      let waits = Latch()
      let operation = engine.operation(path: "/a").onAttempt { _, _ in waits.open() }
      let begin = ContinuousClock.now
      engine.enqueue(operation)
      await waits.opened()
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused || origin.hits("/a") == 2)
      operation.resume()
      #expect(await operation.end().text == "now")
      // The loop may be some milliseconds ahead
      #expect(ContinuousClock.now - begin >= .milliseconds(990))
    }
  }

  @Test(arguments: [false, true])
  func `an operation is paused while a provider is asked, and asks again`(isShared: Bool) async throws {
    let (isAsked, gives) = (Latch(), Latch())
    try await withEngine {
      $0.credentials = .provider { _ in
        isAsked.open()
        await gives.opened()
        return .bearer("in")
      }
    } _: { engine, origin in
      origin.fallback { $0.header("Authorization") == nil ? .status(401) : .text("in") }
      let operation = engine.start("/a")
      await isAsked.opened()
      let other = isShared ? engine.start("/a") : nil
      operation.pause()
      await engine.settle()
      #expect(operation.state == .paused)
      gives.open()
      if let other { #expect(await other.end().text == "in") }
      // Another that needs no credentials has been there and back.
      origin.on("/b", .text("b"))
      #expect(await engine.end(of: engine.operation(path: "/b")).text == "b")
      #expect(operation.state == .paused && origin.hits("/a") == (isShared ? 2 : 1))
      operation.resume()
      let ending = await operation.end()
      #expect(ending.text == "in" && origin.hits("/a") == (isShared ? 3 : 2), "\(ending)")
    }
  }

  @Test func `pausing operations that share an exchange disturbs no other`() async throws {
    try await withEngine { engine, origin in
      let first = await engine.held("/a", .text("shared"), at: origin)
      let second = engine.start("/a")
      first.pause()
      second.pause()
      origin.release("/a")
      for operation in [second, first] {
        operation.resume()
        #expect(await operation.end().text == "shared")
      }
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [1, 4])
  func `the one whose exchange others wait for is paused, and they go on`(loops: Int) async throws {
    try await withEngine(queue: { $0.loops = .fixed(loops) }) { engine, origin in
      let first = await engine.held("/a", .text("shared"), at: origin)
      let second = engine.start("/a")
      await engine.settle()
      first.pause()
      await engine.settle()
      #expect(first.state == .paused && second.state == .executing)
      origin.release("/a")
      #expect(await second.end().text == "shared")
      #expect(first.state == .paused)
      first.resume()
      #expect(await first.end().text == "shared" && origin.hits("/a") == 2)
    }
  }

  @Test func `the one that is resumed in time gets the answer that is on its way`() async throws {
    try await withEngine { engine, origin in
      let first = await engine.held("/a", .text("shared"), at: origin)
      let second = engine.start("/a")
      first.pause()
      first.resume()
      first.pause()
      await engine.settle()
      #expect(first.state == .paused)
      first.resume()
      await engine.settle()
      #expect(first.state == .executing)
      origin.release("/a")
      let (one, other) = (await first.end().text, await second.end().text)
      #expect(one == "shared" && other == "shared" && origin.hits("/a") == 1)
    }
  }

  @Test(arguments: [false, true])
  func `the one that is paused can be cancelled, before and after the others have left`(leaves: Bool)
    async throws
  {
    try await withEngine { engine, origin in
      let first = await engine.held("/a", .text("shared"), at: origin)
      let second = engine.start("/a")
      first.pause()
      if leaves { second.cancel() }
      await engine.settle()
      #expect(first.state == .paused)
      first.cancel()
      #expect(await first.end().code == .cancelled)
      origin.release("/a")
      let ending = await second.end()
      #expect(leaves ? ending.code == .cancelled : ending.text == "shared", "\(ending)")
    }
  }

  @Test func `the one that is paused beside streams asks for itself`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", .text("shared").fault(.gate("middle"), at: .body(3)))
      let first = engine.start("/a")
      let second = engine.start(engine.operation(path: "/a").addDownloadStream(DiscardDownloadStream()))
      await engine.settle()
      first.pause()
      await engine.settle()
      #expect(first.state == .paused)
      origin.release("middle")
      #expect(await second.end().response?.status == 200)
      first.resume()
      #expect(await first.end().text == "shared")
    }
  }
}
