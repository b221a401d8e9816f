import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Joining late when the disk gives up, and in any order.
struct LateJoinFaultTests {
  @Test(.enabled(if: TinyDisk.isPossible))
  func `a disk that is full ends those only who have no other way`() async throws {
    let disk = try #require(TinyDisk(mebibytes: 24))
    try await withCache {
      $0.directory = disk.directory["cache"]
      $0.bytesMax = 64 << 20
    } _: { engine, origin, _ in
      let count = 8 << 20
      origin.on(
        "/a",
        .pattern(count).header("Cache-Control", "max-age=100").fault(.gate("middle"), at: .body(1 << 20)))
      let first = PatternStream()
      let leader = engine.start(engine.operation(path: "/a").addDownloadStream(first))
      #expect(await until { first.count == 1 << 20 })
      let stream = PatternStream()
      let late = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      let plain = engine.start("/a")
      #expect(await until { stream.count == 1 << 20 })
      // When
      try disk.fill()
      origin.release("middle")
      // Then its stream has a part, and cannot begin again
      #expect(await late.end().code == .storeFailed)
      #expect(stream.closings == ["storeFailed"])
      #expect(await leader.end().response?.status == 200)
      #expect(first.isWhole(count))
      #expect(await plain.end().response?.body.count == count)
      #expect(origin.requestCount == 2)
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
      engine.closeCache()
    }
  }

  @Test(.enabled(if: TinyDisk.isPossible))
  func `an exchange whose last reader asks for itself has ended`() async throws {
    let disk = try #require(TinyDisk(mebibytes: 24))
    try await withCache {
      $0.directory = disk.directory["cache"]
      $0.bytesMax = 64 << 20
    } _: { engine, origin, _ in
      // Given a download that only another reads, out of its spool
      let count = 8 << 20
      let body = Answer.pattern(count).header("Cache-Control", "max-age=100")
      origin.enqueue(
        body.fault(.gate("middle"), at: .body(1 << 20)).fault(.gate("never"), at: .body(7 << 20)), for: "/a")
      origin.on("/a", body)
      let stream = PatternStream()
      let leader = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      #expect(await until { stream.count == 1 << 20 })
      let plain = engine.start("/a")
      await engine.settle()
      leader.cancel()
      #expect(await leader.end().code == .cancelled)
      // When the disk keeps no more of it
      try disk.fill()
      origin.release("middle")
      // Then the reader has an exchange of its own, and the other none
      #expect(await plain.end().response?.body.count == count)
      #expect(origin.requestCount == 2)
      #expect(await until { engine.configuration.queue.activity.running == 0 })
      engine.closeCache()
    }
  }

  private static let seeds: [UInt64] = LongRun.isOn ? Array(1...200) : Array(1...8)

  @Test(arguments: seeds)
  func `a reader that stays has all of it, however others come, leave and dawdle`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 300_000...5_000_000, using: &random)
    let gates = (0..<4).map { _ in Int.random(in: 0..<count, using: &random) }.sorted()
    let framing = Bool.random(using: &random) ? AnswerFraming.automatic : .chunked(size: 30_000)
    let leaderStays = Bool.random(using: &random)
    try await withCache({ $0.bodyBytesMax = Bool.random(using: &random) ? 16 << 20 : count / 2 }) {
      engine, origin, _ in
      var answer = Answer.pattern(count).header("Cache-Control", "max-age=100").framed(framing)
      for (number, place) in gates.enumerated() {
        answer = answer.fault(.gate("\(number)"), at: .body(place))
      }
      origin.on("/a", answer)
      var guests: [Guest] = []
      for number in gates.indices {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          let isFirst = guests.isEmpty
          let guest = Guest(
            engine, hasStream: isFirst || Bool.random(using: &random),
            isSlow: !isFirst && Bool.random(using: &random))
          guests.append(guest)
          engine.enqueue(guest.operation)
        }
        await engine.settle()
        for guest in guests.dropFirst(leaderStays ? 1 : 0) where Int.random(in: 0..<6, using: &random) == 0 {
          guest.isLeaving = true
          guest.operation.cancel()
        }
        await engine.settle()
        origin.release("\(number)")
      }
      for guest in guests { guest.door.set() }
      for guest in guests { try await guest.judge(count) }
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
      #expect(await until { engine.budgets.streams.held == 0 })
    }
  }

  /// One who asks for the body, in his own way.
  private final class Guest {
    let operation: NetworkOperation
    let door = Flag()
    var isLeaving = false
    private let stream: PatternStream?

    init(_ engine: NetworkEngine, hasStream: Bool, isSlow: Bool) {
      operation = engine.operation(path: "/a")
      if !isSlow { door.set() }
      stream = hasStream ? PatternStream(while: door) : nil
      if let stream { operation.addDownloadStream(stream) }
    }

    func judge(_ count: Int) async throws {
      let ending = await operation.end()
      if isLeaving, ending.code == .cancelled {
        #expect(stream.map { $0.isRight && $0.closings == ["cancelled"] } ?? true)
        return
      }
      let response = try #require(ending.response, "\(ending)")
      if let stream {
        #expect(stream.isWhole(count))
      } else {
        #expect(response.body.count == count && BodyPattern.matches([UInt8](response.body)))
      }
    }
  }
}
