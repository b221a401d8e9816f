import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Who asks for what already comes gets it from the first byte on, out of the spool, at his own pace.
struct LateJoinTests {
  @Test func `a request serves another that joins in the middle of a long download`() async throws {
    let count = 64 << 20
    try await withSpooled(count, heldAt: count / 2) { engine, origin, leader, first in
      let stream = PatternStream()
      let late = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      // All that has come is there for it while nothing more comes
      #expect(await until { stream.count == count / 2 })
      origin.release("middle")
      for operation in [leader, late] {
        let response = try #require(await operation.end().response)
        #expect(response.source == .network && response.body.isEmpty)
        #expect(response.streams.map(\.bytes) == [Int64(count)])
      }
      #expect(first.isWhole(count) && stream.isWhole(count) && origin.requestCount == 1)
      #expect(await until { engine.budgets.streams.held == 0 })
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `an operation without streams gets it in memory, or is told that it is too long`(
    fits: Bool, isChunked: Bool
  ) async throws {
    let count = 6 << 20
    try await withSpooled(
      count, heldAt: 3 << 20, inMemoryMax: fits ? count : count - 1, isChunked: isChunked
    ) { engine, origin, leader, first in
      let late = engine.start("/a")
      await engine.settle()
      origin.release("middle")
      let ending = await late.end()
      if fits {
        let body = try #require(ending.response?.body)
        #expect(body.count == count && BodyPattern.matches([UInt8](body)))
        #expect(ending.response?.streams.isEmpty == true)
      } else {
        #expect(ending.code == .bodyTooLarge)
      }
      #expect(await leader.end().response?.status == 200)
      // Where the length is announced he asks for himself, and is told at the head
      #expect(first.isWhole(count) && origin.requestCount == (fits || isChunked ? 1 : 2))
    }
  }

  @Test func `a reader that takes nothing holds up no other, and has all of it afterwards`() async throws {
    let count = 24 << 20
    try await withSpooled(count, heldAt: 1 << 20) { engine, origin, leader, first in
      let door = Flag()
      let streams = [PatternStream(while: door), PatternStream()]
      let slow = engine.start(engine.operation(path: "/a").addDownloadStream(streams[0]))
      let fast = engine.start(engine.operation(path: "/a").addDownloadStream(streams[1]))
      #expect(await until { streams[0].isOpenedOnce && streams[1].count == 1 << 20 })
      origin.release("middle")
      #expect(await leader.end().response?.status == 200)
      #expect(await fast.end().response?.status == 200)
      #expect(first.isWhole(count) && streams[1].isWhole(count))
      #expect(streams[0].count == 0 && slow.state == .executing)
      await blocking { engine.flushCache() }
      door.set()
      #expect(await slow.end().response?.status == 200)
      #expect(streams[0].isWhole(count) && origin.requestCount == 1)
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
    }
  }

  @Test func `when all have left, so has the exchange`() async throws {
    try await withSpooled(10 << 20, heldAt: 6 << 20) { engine, origin, leader, first in
      let stream = PatternStream()
      let late = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      #expect(await until { stream.count == 6 << 20 })
      late.pause()  // it has got some, so it goes on
      leader.cancel()
      late.cancel()
      for operation in [leader, late] { #expect(await operation.end().code == .cancelled) }
      #expect(stream.closings == ["cancelled"] && first.closings == ["cancelled"])
      #expect(await until { engine.configuration.queue.activity.running == 0 })
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
      #expect(await engine.isMissing("/a"))
    }
  }

  @Test(arguments: [false, true])
  func `what breaks off breaks off for all that have got some, and the others begin anew`(repeats: Bool)
    async throws
  {
    let retry = repeats ? NetworkRequest.Retry.attempts(2, pause: .zero) : .none
    try await withCache(engine: { $0.retry = retry }) { engine, origin, _ in
      let answer = Answer.pattern(8 << 20).header("Cache-Control", "max-age=100")
      let broken = answer.fault(.gate("middle"), at: .body(4 << 20)).closeAfter(5 << 20)
      origin.on("/a", repeats ? answer : broken)
      origin.enqueue(broken, for: "/a")
      let first = PatternStream()
      let leader = engine.start(engine.operation(path: "/a").addDownloadStream(first))
      #expect(await until { first.count == 4 << 20 })
      let (stream, plain) = (PatternStream(), engine.start("/a"))
      let late = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      #expect(await until { stream.count == 4 << 20 })
      origin.release("middle")
      for operation in [leader, late] { #expect(await operation.end().code == .bodyTruncated) }
      let ending = await plain.end()
      #expect(ending.response?.body.count == (repeats ? 8 << 20 : nil), "\(ending)")
      #expect(ending.code == (repeats ? nil : .bodyTruncated))
      #expect(first.closings == ["bodyTruncated"] && stream.closings == ["bodyTruncated"] && stream.isRight)
      #expect(origin.requestCount == (repeats ? 2 : 1))
      #expect(await until { engine.budgets.cacheSpools?.held == 0 && engine.budgets.streams.held == 0 })
      #expect(await engine.isMissing("/a") == !repeats)
    }
  }

  @Test func `a body that grows too long to be stored still comes to its readers`() async throws {
    let count = 9 << 20
    try await withSpooled(count, heldAt: 4 << 20, storedMax: 6 << 20, isChunked: true) {
      engine, origin, leader, first in
      let stream = PatternStream()
      let late = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      // So far it lies on the disk
      #expect(await until { stream.count > 0 && engine.spooled >= 3 << 20 })
      origin.release("middle")
      for operation in [leader, late] { #expect(await operation.end().response?.status == 200) }
      #expect(first.isWhole(count) && stream.isWhole(count) && origin.requestCount == 1)
      #expect(await engine.isMissing("/a"))
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
    }
  }

  @Test func `what was changed since is asked for again`() async throws {
    try await withSpooled(4 << 20, heldAt: 2 << 20) { engine, origin, leader, first in
      origin.on("/a", .text("new"))
      #expect(await engine.end(of: engine.operation(path: "/a", method: .put)).response?.status == 200)
      let stream = MemoryDownloadStream()
      #expect(
        await engine.end(of: engine.operation(path: "/a").addDownloadStream(stream)).response?.status == 200)
      #expect(String(decoding: stream.bytes, as: UTF8.self) == "new")
      origin.release("middle")
      #expect(await leader.end().response?.status == 200)
      #expect(first.isWhole(4 << 20) && origin.hits("/a") == 3)
    }
  }

  /// With a leader whose body of the pattern is held at a byte, all before it has come.
  private func withSpooled(
    _ count: Int, heldAt place: Int, inMemoryMax: Int = 64 << 20, storedMax: Int = 64 << 20,
    isChunked: Bool = false,
    _ body: (NetworkEngine, ScriptedOrigin, NetworkOperation, PatternStream) async throws -> Void
  ) async throws {
    try await withCache {
      $0.bodyBytesMax = storedMax
    } engine: {
      $0.limits.bodyBytesInMemoryMax = inMemoryMax
    } _: { engine, origin, _ in
      let paced = PacedBody(path: "/a", count: count, isChunked: isChunked)
      origin.on("/a", paced.answer([("middle", place)]))
      let stream = PatternStream()
      let leader = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      try #require(await paced.come(to: place, from: origin, into: stream) { engine.spooled })
      // One gate may stand where the next begins
      #expect(await until { stream.count == place })
      paced.comeAll(from: origin)
      try await body(engine, origin, leader, stream)
    }
  }
}
