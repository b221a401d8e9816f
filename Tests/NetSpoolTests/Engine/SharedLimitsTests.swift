import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What each of those who share an exchange may be given of its body.
struct SharedLimitsTests {
  /// What one keeps in memory is bounded, whoever else streams it; and the stream's answer has no body.
  @Test(arguments: [true, false], [true, false])
  func `a body that is too long for memory goes on for the streams that share it`(
    isAnnounced: Bool, streamsFirst: Bool
  ) async throws {
    try await withEngine({ $0.limits.bodyBytesInMemoryMax = 1 << 20 }) { engine, origin in
      for (path, count) in [("/long", 3 << 20), ("/short", 1 << 19)] {
        let answer = Answer.pattern(count)
        origin.on(path, isAnnounced ? answer : answer.framed(.chunked(size: 65_536)))
        let stream = MemoryDownloadStream()
        let streamed = engine.operation(path: path).addDownloadStream(stream)
        let kept = engine.operation(path: path)
        await engine.share(path, at: origin, streamsFirst ? [streamed, kept] : [kept, streamed])
        let (first, second) = (await streamed.end(), await kept.end())
        #expect(first.response?.body.isEmpty == true && stream.isWhole && stream.bytes.count == count)
        if count > 1 << 20 {
          #expect(second.code == .bodyTooLarge)
        } else {
          #expect(second.response?.body.count == count)
        }
        #expect(origin.hits(path) == 1)
      }
    }
  }

  @Test func `a stream that joins what one wants in memory has a limit of its own`() async throws {
    try await withEngine({ $0.limits.bodyBytesInMemoryMax = 1 << 20 }) { engine, origin in
      let answer = Answer.pattern(3 << 20).framed(.chunked(size: 65_536))
      origin.on("/a", answer.fault(.gate("joined"), at: .body(1_000)))
      let kept = await engine.underWay("/a")
      let stream = MemoryDownloadStream()
      let streamed = engine.start(engine.operation(path: "/a").addDownloadStream(stream))
      await engine.settle()
      origin.release("joined")
      #expect(await kept.end().code == .bodyTooLarge)
      #expect(await streamed.end().response?.status == 200 && stream.bytes.count == 3 << 20)
      #expect(origin.hits("/a") == 1)
    }
  }

  @Test func `streams that may be given less than memory end no operation that wants it there`() async throws
  {
    try await withEngine({ $0.limits.bodyBytesStreamedMax = 1 << 20 }) { engine, origin in
      origin.hold("/a", .pattern(3 << 20))
      let streamed = engine.start(engine.operation(path: "/a").addDownloadStream(MemoryDownloadStream()))
      let kept = engine.start("/a")
      #expect(await origin.waitForWaiting("/a", 2))
      origin.release("/a")
      #expect(await streamed.end().code == .bodyTooLarge)
      #expect(await kept.end().response?.body.count == 3 << 20)
    }
  }
}
