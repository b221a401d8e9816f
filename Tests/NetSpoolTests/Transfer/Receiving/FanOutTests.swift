import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("A download into several streams")
struct FanOutTests {
  /// 8 MiB, or 1 GiB when there is time.
  static let bytes = LongRun.isOn ? 1 << 30 : 8 << 20

  /// In a model's time, which does not go on: what is asked again by a timer of its own would not come.
  @Test(arguments: [true, false])
  func `a stream that takes little at a time is not kept waiting`(pauses: Bool) throws {
    let timeline = Timeline()
    defer { timeline.end() }
    var settings = NetworkQueue.Configuration()
    settings.loops = .fixed(1)
    let queue = try NetworkQueue(configuration: settings)
    let scheduler = try queue.driver.runHere(in: timeline)
    // Takes 500 bytes of what it is offered; with pauses every second time none.
    let (calls, fanout) = (Counter(), SinkFanout())
    let reader = RecordingStream(
      wakes: true, onWrite: { pauses && !calls.add().isMultiple(of: 2) ? 0 : min($0, 500) })
    fanout.add(StreamSink(reader, services: scheduler.sinks), id: 1) {
      Issue.record("failed: \($0.reason)")
    }
    fanout.open(SinkFixture.head, bytesExpected: nil)
    let body = SinkFixture.pattern(100_000)
    unsafe fanout.write(body.span.bytes)
    // Two turns for each of its 200 pieces, and one for each pause
    for _ in 0..<600 {
      scheduler.loop.runOnce()
      _ = timeline.advance(by: 0)
    }
    #expect(reader.log.bytes.count == 100_000)
    queue.driver.perform { $0.close() }
    scheduler.loop.run()
    #expect(scheduler.loop.finish() == 0)
  }

  @Test(arguments: [true, false])
  func `a body that is not kept is counted, however long it is`(digests: Bool) async throws {
    try await withWire({ $0.limits.bodyBytesInMemoryMax = 1 }) { wire in
      wire.origin.on("/a", .pattern(500_000))
      let answer = try await wire.answer(
        wire.operation("/a").addDownloadStream(DiscardDownloadStream(digests: digests)))
      #expect(answer.body.isEmpty && answer.streams.map(\.bytes) == [500_000])
      #expect(answer.streams.first?.sha256 == (digests ? patternDigest(500_000) : nil))
    }
  }

  @Test func `gives each the same bytes from one read`() async throws {
    let folder = try TestFolder()
    let reader = try ReaderPipe()
    let wasVisible = Flag()
    let digest = Mutex(SHA256())
    let received = Counter()
    let expected = patternDigest(Self.bytes)
    // Given two files, a pipe whose reader is late, and a closure
    let closure = ClosureDownloadStream(digests: true) { bytes in
      digest.withLock { $0.update(bytes) }
      let now = received.add(bytes.byteCount)
      if now - bytes.byteCount < 400 << 10, now >= 400 << 10 { reader.release() }
      if unsafe access(folder["a"], F_OK) == 0 || access(folder["b"], F_OK) == 0 { wasVisible.set() }
      return .accepted
    }
    try await withWire({ $0.receiveBufferBytes = 256 << 10 }) { wire in
      wire.origin.on("/a", .pattern(Self.bytes))
      let operation = wire.operation("/a")
        .addDownloadStream(FileDownloadStream(path: folder["a"], digests: true))
        .addDownloadStream(FileDownloadStream(path: folder["b"], digests: true))
        .addDownloadStream(DescriptorDownloadStream(reader.writerNumber, digests: true))
        .addDownloadStream(closure)
      // When it is downloaded
      let answer = try await wire.answer(operation)
      // Then one request gave all of them the same bytes
      #expect(wire.origin.requestCount == 1 && answer.body.isEmpty)
      #expect(answer.streams.count == 4)
      for report in answer.streams { #expect(report.bytes == Int64(Self.bytes) && report.sha256 == expected) }
      #expect(answer.streams.map(\.path) == [folder["a"], folder["b"], nil, nil])
      #expect(Hexadecimal.text(digest.withLock { $0.finish() }) == expected)
      #expect(!wasVisible.isSet)
      #expect(try Self.digest(of: folder["a"]) == expected)
      #expect(try Self.digest(of: folder["b"]) == expected)
    }
    #expect(folder.names == ["a", "b"])
    reader.closeWriter()
    #expect(Hexadecimal.text(reader.digest()) == expected)
  }

  private static func digest(of path: String) throws -> String {
    let result = try ChildProcess.run(["sha256sum", path])
    return String(decoding: result.output.prefix(64), as: UTF8.self)
  }

  @Test func `keeps the others when one may be dropped`() async throws {
    let good = RecordingStream()
    let bad = RecordingStream(onWrite: { _ in throw RecordingStream.Refusal() })
    try await withWire { wire in
      wire.origin.on("/a", .pattern(300_000))
      let operation = wire.operation("/a").addDownloadStream(bad, onFailure: .dropStream).addDownloadStream(
        good)
      let answer = try await wire.answer(operation)
      #expect(answer.streams.map(\.bytes) == [0, 300_000])
      #expect(answer.streams[1].sha256 == patternDigest(300_000))
      #expect(answer.streams.map(\.failure?.code) == [.sinkFailed, nil])
    }
    #expect(good.log.closes.count == 1 && bad.log.closes.map { $0 != nil } == [true], "\(bad.log.closes)")
  }

  @Test func `fails when one fails unless it may be dropped`() async throws {
    let folder = try TestFolder()
    let good = RecordingStream()
    let bad = RecordingStream(onWrite: { _ in throw RecordingStream.Refusal() })
    try await withWire { wire in
      wire.origin.on("/a", .pattern(3_000_000))
      let operation = wire.operation("/a").addDownloadStream(good)
        .addDownloadStream(FileDownloadStream(path: folder["a"], digests: true)).addDownloadStream(bad)
      let error = try await wire.failure(operation)
      #expect(error.code == .sinkFailed && error.reason?.hasPrefix("stream 2: ") == true, "\(error)")
    }
    #expect(good.log.closes.count == 1 && bad.log.closes.count == 1)
    #expect(folder.names == [])
  }

  @Test func `fails when all streams were dropped`() async throws {
    let bad = RecordingStream(onWrite: { _ in throw RecordingStream.Refusal() })
    try await withWire { wire in
      wire.origin.on("/a", .text("hello"))
      let operation = wire.operation("/a").addDownloadStream(bad, onFailure: .dropStream)
      let error = try await wire.failure(operation)
      #expect(error.code == .sinkFailed)
    }
  }

  @Test(arguments: [1, 7, 4_096])
  func `offers the rest again to a stream that takes little`(_ count: Int) async throws {
    let size = count == 1 ? 300 : 20_000
    // Most offers are taken in part at once; one in between is refused whole.
    let calls = Counter()
    let stream = RecordingStream(onWrite: { offered in
      let call = calls.add()
      return call == 2 ? 0 : min(offered, count * call)
    })
    try await withWire { wire in
      wire.origin.on("/a", .pattern(size))
      let answer = try await wire.answer(wire.operation("/a").addDownloadStream(stream))
      #expect(answer.streams[0].sha256 == patternDigest(size))
    }
    #expect(BodyPattern.matches(stream.log.bytes) && stream.log.bytes.count == size)
  }
}
