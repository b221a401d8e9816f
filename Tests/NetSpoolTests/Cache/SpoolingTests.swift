import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Long bodies that go to streams lie in a file beside the store until it has them.
struct SpoolingTests {
  @Test func `a long body of unknown length is stored as it comes`() async throws {
    try await withCache({ $0.bodyBytesMax = 64 << 20 }) { engine, origin, _ in
      let count = 40 << 20
      let body = PacedBody(path: "/a", count: count, isChunked: true)
      origin.on("/a", body.answer())
      let (first, second) = (PatternStream(), PatternStream())
      let operation = engine.start(engine.operation(path: "/a").addDownloadStream(first))
      try #require(await body.come(to: count, from: origin, into: first) { engine.spooled })
      #expect(await operation.end().response?.source == .network)
      // It is a hit while it is on its way into the store, and afterwards
      for stream in [second, PatternStream()] {
        let hit = await engine.end(of: engine.operation(path: "/a").addDownloadStream(stream))
        #expect(hit.response?.source == .cache && stream.isWhole(count))
        await blocking { engine.flushCache() }
      }
      #expect(first.isWhole(count) && origin.requestCount == 1)
      #expect(engine.cacheStatistics?.dropped == 0)
      #expect(await until { engine.budgets.cacheSpools?.held == 0 })
    }
  }

  @Test(.enabled(if: TinyDisk.isPossible)) func `a full disk holds up no request`() async throws {
    let disk = try #require(TinyDisk(mebibytes: 40))
    try await withCache {
      $0.directory = disk.directory["cache"]
      $0.bytesMax = 64 << 20
    } _: { engine, origin, _ in
      try disk.fill(leaving: 512)
      for (path, framing) in [("/a", AnswerFraming.contentLength), ("/b", .chunked(size: 65_536))] {
        origin.on(path, .pattern(8 << 20).header("Cache-Control", "max-age=100").framed(framing))
        let stream = PatternStream()
        let ending = await engine.end(of: engine.operation(path: path).addDownloadStream(stream))
        #expect(ending.response?.status == 200 && stream.isWhole(8 << 20))
        #expect(await engine.isMissing(path))
        #expect(await until { engine.budgets.cacheSpools?.held == 0 })
      }
      try disk.empty()
      let stream = PatternStream()
      _ = await engine.end(of: engine.operation(path: "/a").addDownloadStream(stream))
      #expect(stream.isWhole(8 << 20))
      // It ends without being stored where that takes longer than a second.
      #expect(await until { await !engine.isMissing("/a") })
      let again = PatternStream()
      let hit = await engine.end(of: engine.operation(path: "/a").addDownloadStream(again))
      #expect(hit.response?.source == .cache && again.isWhole(8 << 20))
      engine.closeCache()
    }
  }

  @Test(.notSanitized(.memoryIsNoMeasure))
  func `two long bodies at once take little memory`() async throws {
    // In a process of its own: what other tests do meanwhile is no part of it.
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      try await withEngine(alone: true) { engine, origin in
        var settings = CacheConfiguration.patient(folder.path)
        settings.bodyBytesMax = 64 << 20
        try engine.useCache(settings)
        let count = 48 << 20
        let bodies = ["/a", "/b"].map { PacedBody(path: $0, count: count) }
        for body in bodies { origin.on(body.path, body.answer([(body.path, count - 1)])) }
        origin.on("/small", .pattern(100_000).header("Cache-Control", "max-age=100"))
        _ = await engine.end(of: engine.operation(path: "/small").addDownloadStream(PatternStream()))
        // When
        MemoryUse.forgetPeak()
        let before = MemoryUse.resident
        let streams = bodies.map { _ in PatternStream() }
        let operations = zip(bodies, streams).map { engine.operation(path: $0.path).addDownloadStream($1) }
        for (number, body) in bodies.enumerated() {
          let before = engine.spooled
          engine.enqueue(operations[number])
          try #require(
            await body.come(to: count, from: origin, into: streams[number]) { engine.spooled - before })
          // All but its last buffer: the next one's are told from these.
          let end = before + count - 1 << 20
          try #require(await until { streams[number].count == count - 1 && engine.spooled >= end })
        }
        // Then
        let grown = MemoryUse.peak - before
        #expect(grown < 16 << 20, "\(grown >> 10) KiB of 96 MiB")
        for body in bodies { origin.release(body.path) }
        for operation in operations { #expect(await operation.end().response?.status == 200) }
        #expect(streams.allSatisfy { $0.isWhole(count) })
        engine.closeCache()
      }
      _ = folder
    }
  }
}

extension NetworkEngine {
  /// Bytes that lie on the disk on their way into the cache.
  var spooled: Int { budgets.cacheSpools?.held ?? 0 }
}
