import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Streams and the cache: stored bodies go into streams, streamed bodies go into the store.
struct CacheStreamTests {
  private static let bytes = BodyPattern.bytes(900_000)

  @Test func `a slow stream gets all, and so do the others`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .bytes(Self.bytes).header("Cache-Control", "max-age=100"))
      _ = await engine.fetch("/a")
      let pipe = try ReaderPipe()
      let fast = [MemoryDownloadStream(), MemoryDownloadStream()]
      let operation = engine.operation(path: "/a").addDownloadStream(
        DescriptorDownloadStream(pipe.writerNumber, digests: false))
      for stream in fast { operation.addDownloadStream(stream) }
      engine.enqueue(operation)
      // It is still playing when the reader begins: the body is larger than pipe and backlog together.
      #expect(await engine.fetch("/a").text?.utf8.count ?? 0 > 0)
      #expect(operation.state != .finished)
      pipe.release()
      let response = try #require(await operation.end().response)
      pipe.closeWriter()
      #expect(response.source == .cache && response.body.count == 0 && response.streams.count == 3)
      #expect(response.streams.allSatisfy { $0.bytes == Int64(Self.bytes.count) })
      #expect(fast.allSatisfy { $0.isWhole && $0.bytes == Self.bytes })
      _ = pipe.digest()
      #expect(origin.requestCount == 1)
    }
  }

  @Test(arguments: [false, true])
  func `what plays is cancelled or shut down, and closed once`(shutsDown: Bool) async throws {
    try await withPlaying { engine, operation, stream in
      if shutsDown { engine.shutDownAndWait(deadline: .seconds(0)) } else { operation.cancel() }
      let code = shutsDown ? NetworkError.Code.engineClosed : .cancelled
      #expect(await operation.end().code == code && stream.isOpenedOnce && stream.closings == ["\(code)"])
      if !shutsDown { #expect(await engine.fetch("/a").response?.source == .cache) }
    }
  }

  @Test func `what plays is not waiting: the limit for waiting does not end it`() async throws {
    try await withPlaying(queueDeadline: .milliseconds(50)) { engine, operation, _ in
      // Another one that waits no longer than that proves that the time is over.
      engine.configuration.queue.isSuspended = true
      let other = engine.operation(path: "/other")
      other.timeouts = .queueDeadline(.milliseconds(100))
      #expect(await engine.end(of: other).code == .timedOut)
      #expect(operation.state != .finished)
      // Pausing it does no harm
      operation.pause()
      operation.resume()
      operation.cancel()
      #expect(await operation.end().code == .cancelled)
    }
  }

  @Test func `a stream that fails is dropped or fails it`() async throws {
    for policy in [StreamFailurePolicy.failOperation, .dropStream] {
      try await withCache { engine, origin, _ in
        origin.on("/a", .bytes(Self.bytes).header("Cache-Control", "max-age=100"))
        _ = await engine.fetch("/a")
        let good = MemoryDownloadStream()
        let operation = engine.operation(path: "/a").addDownloadStream(good)
          .addDownloadStream(MemoryDownloadStream(bytesMax: 1000), onFailure: policy)
        #expect(await engine.end(of: operation).code == (policy == .dropStream ? nil : .sinkFailed))
        if policy == .dropStream { #expect(good.bytes == Self.bytes) }
      }
    }
  }

  @Test func `what was streamed is stored`() async throws {
    try await withCache { engine, origin, _ in
      let zeros = [UInt8](repeating: 0, count: 100_000)
      for (path, answer, bytes) in [
        ("/length", Answer.bytes(Self.bytes), Self.bytes),
        ("/chunks", Answer.bytes(Self.bytes).framed(.chunked(size: 65_536)), Self.bytes),
        ("/gzip", Answer.gzip(GzipBomb(unpacked: zeros.count).bytes), zeros),
      ] {
        origin.on(path, answer.header("Cache-Control", "max-age=100"))
        let stream = MemoryDownloadStream()
        let sent = await engine.end(of: engine.operation(path: path).addDownloadStream(stream))
        let held = try #require(await engine.fetch(path).response)
        #expect(sent.response?.source == .network && held.source == .cache, "\(path)")
        #expect([UInt8](held.body) == bytes && stream.bytes == bytes, "\(path)")
      }
    }
  }

  @Test(arguments: [true, false]) func `what is too large is not`(streams: Bool) async throws {
    try await withCache({ $0.bodyBytesMax = 1000 }) { engine, origin, _ in
      for (path, count) in [("/fits", 1000), ("/large", 1001)] {
        origin.on(path, .pattern(count).header("Cache-Control", "max-age=100"))
        let operation = engine.operation(path: path)
        if streams { operation.addDownloadStream(MemoryDownloadStream()) }
        _ = await engine.end(of: operation)
        #expect((await engine.fetch(path, .onlyIfCached).response != nil) == (count == 1000))
      }
    }
  }

  @Test func `nor what was refused by a stream`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/refused", .pattern(100_000).header("Cache-Control", "max-age=100"))
      let refused = engine.operation(path: "/refused").addDownloadStream(MemoryDownloadStream(bytesMax: 10))
      #expect(await engine.end(of: refused).code == .sinkFailed)
      #expect(await engine.fetch("/refused", .onlyIfCached).code == .notCached)
    }
  }

  @Test func `a stream is opened once, whatever fails before the stored body plays`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .text("new").closeAfter(0))
      let calls = Journal<String>()
      _ = await engine.end(of: engine.operation(path: "/a").addDownloadStream(NotingStream(calls)))
      #expect(calls.entries.filter { $0.hasPrefix("open") }.count == 1)
      #expect(calls.entries.filter { $0.hasPrefix("close") }.count == 1)
    }
  }

  @Test func `a revalidated body plays into the streams of all`() async throws {
    try await withStale { engine, origin in
      origin.on("/a", .status(304))
      let streams = (0..<3).map { _ in MemoryDownloadStream() }
      let operations = streams.map { engine.operation(path: "/a").addDownloadStream($0) }
      let plain = engine.operation(path: "/a")
      await engine.share("/a", at: origin, operations + [plain])
      for operation in operations { #expect(await operation.end().response?.source == .revalidated) }
      #expect(await plain.end().text == "old")
      #expect(streams.allSatisfy { String(decoding: $0.bytes, as: UTF8.self) == "old" })
      #expect(origin.hits("/a") == 2)
    }
  }

  @Test(arguments: [304, 200])
  func `a slow reader leaves, the others get the rest`(status: Int) async throws {
    try await withCache { engine, origin, clock in
      origin.on("/a", .bytes(Self.bytes).header("Cache-Control", "max-age=10").header("ETag", "\"a\""))
      _ = await engine.fetch("/a")
      clock.advance(seconds: 20)
      if status == 304 { origin.on("/a", .status(304)) }
      let slow = engine.operation(path: "/a").addDownloadStream(ClosureDownloadStream { _ in .pause })
      let stream = MemoryDownloadStream()
      let fast = engine.operation(path: "/a").addDownloadStream(stream)
      await engine.share("/a", at: origin, [slow, fast])
      #expect(await engine.fetch("/none").code == .status)  // behind it, the body plays
      slow.cancel()
      #expect(await fast.end().response?.source == (status == 304 ? .revalidated : .network))
      #expect(stream.bytes == Self.bytes)
    }
  }

  @Test func `a stored error is no body for streams`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .text("gone", status: 410).header("Cache-Control", "max-age=100"))
      for _ in 1...2 {
        let stream = MemoryDownloadStream()
        let ending = await engine.end(of: engine.operation(path: "/a").addDownloadStream(stream))
        #expect(ending.code == .status && stream.bytes.isEmpty && !stream.isWhole)
      }
      #expect(origin.requestCount == 1)
    }
  }

  /// With an operation whose stored body waits for a stream that takes nothing.
  private func withPlaying(
    queueDeadline: Duration? = nil,
    _ body: (NetworkEngine, NetworkOperation, PatternStream) async throws -> Void
  ) async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .bytes(Self.bytes).header("Cache-Control", "max-age=100"))
      _ = await engine.fetch("/a")
      let stream = PatternStream(while: Flag())
      let operation = engine.operation(path: "/a").addDownloadStream(stream)
      if let queueDeadline { operation.timeouts = .queueDeadline(queueDeadline) }
      engine.enqueue(operation)
      #expect(await until { stream.isOpenedOnce })
      try await body(engine, operation, stream)
      #expect(origin.hits("/a") == 1)
    }
  }
}
