import NetSpool
import NetSpoolTesting
import Synchronization
import Testing

@testable import TestSupport

@Suite("A stream is closed exactly once, however its operation ends")
struct StreamClosingTests {
  private func check(_ stream: RecordingStream, opens: Int, fails code: NetworkError.Code?) {
    let log = stream.log
    #expect(log.opens == opens && log.closes.count == 1 && log.misplaced == 0)
    switch log.closes.first {
    case .failure(let error): #expect(error.code == code, "\(error)")
    case .success: #expect(code == nil)
    case nil: break
    }
  }

  @Test func `after a whole body`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.on("/a", .text("hello"))
      _ = try await wire.answer(wire.operation("/a").addDownloadStream(stream))
    }
    check(stream, opens: 1, fails: nil)
    #expect(stream.log.bytes == Array("hello".utf8) && stream.log.expected == 5)
  }

  @Test(arguments: [204, 200]) func `after an empty body`(status: Int) async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.on("/a", .status(status))
      _ = try await wire.answer(wire.operation("/a").addDownloadStream(stream))
    }
    check(stream, opens: 1, fails: nil)
  }

  @Test func `after an error status unopened`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.on("/a", .text("sorry", status: 500))
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .status && error.response?.text == "sorry")
    }
    check(stream, opens: 0, fails: .status)
  }

  @Test func `after a refused connection`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.stop()
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .connectFailed && error.reason == "refused")
    }
    check(stream, opens: 0, fails: .connectFailed)
  }

  @Test func `after a cut body`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.on("/a", .pattern(10_000).closeAfter(500))
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .bodyTruncated)
    }
    check(stream, opens: 1, fails: .bodyTruncated)
  }

  @Test func `when cancelled while queued`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.queue.isSuspended = true
      let operation = wire.operation("/a").addDownloadStream(stream)
      wire.engine.enqueue(operation)
      operation.cancel()
      let error = try await wire.failure(operation)
      #expect(error.code == .cancelled)
    }
    check(stream, opens: 0, fails: .cancelled)
  }

  @Test func `when cancelled in the body`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.origin.on("/a", .pattern(10_000).stallAfter(500))
      let operation = wire.operation("/a").addDownloadStream(stream)
      operation.onDownloadProgress { [weak operation] _ in operation?.cancel() }
      let error = try await wire.failure(operation)
      #expect(error.code == .cancelled)
    }
    check(stream, opens: 1, fails: .cancelled)
  }

  @Test func `when cancelled before it was enqueued`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      let operation = wire.operation("/a").addDownloadStream(stream)
      operation.cancel()
      let error = try await wire.failure(operation)
      #expect(error.code == .cancelled)
    }
    check(stream, opens: 0, fails: .cancelled)
  }

  @Test(arguments: ["ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/"])
  func `when the URL is unusable`(_ url: String) async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      let error = try await wire.failure(wire.engine.operation(url: url).addDownloadStream(stream))
      #expect(error.code == .invalidURL)
    }
    check(stream, opens: 0, fails: .invalidURL)
  }

  @Test func `when the request is invalid`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      let operation = wire.operation("/a").setHeader("X-A", "a\r\nb").addDownloadStream(stream)
      let error = try await wire.failure(operation)
      #expect(error.code == .invalidRequest)
    }
    check(stream, opens: 0, fails: .invalidRequest)
  }

  @Test func `when the upload source is gone`() async throws {
    let stream = RecordingStream()
    let folder = try TestFolder()
    let path = try folder.write("a", [1])
    try await withWire { wire in
      wire.queue.isSuspended = true
      let operation = wire.operation("/a", .post).setBody(.file(path)).addDownloadStream(stream)
      wire.engine.enqueue(operation)
      try? folder.remove("a")
      wire.queue.isSuspended = false
      let error = try await wire.failure(operation)
      #expect(error.code == .uploadSourceFailed)
    }
    check(stream, opens: 0, fails: .uploadSourceFailed)
  }

  @Test func `an upload whose opening throws`() async throws {
    let upload = UnopenedUpload()
    try await withWire { wire in
      let error = try await wire.failure(wire.operation("/a", .post).setUploadStream(upload))
      #expect(error.code == .uploadSourceFailed)
    }
    #expect(upload.opens.withLock { $0 } == 1 && upload.closes.withLock { $0 } == 1)
  }

  @Test func `when the engine is closed`() async throws {
    let stream = RecordingStream()
    try await withWire { wire in
      wire.engine.shutDownAndWait(deadline: .seconds(0))
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .engineClosed)
    }
    check(stream, opens: 0, fails: .engineClosed)
  }

  @Test func `when a follower leaves a shared exchange`() async throws {
    let (first, second) = (RecordingStream(), RecordingStream())
    try await withWire { wire in
      wire.origin.on("/a", .text("hello"))
      wire.queue.isSuspended = true
      let carrier = wire.operation("/a").addDownloadStream(first)
      let follower = wire.operation("/a").addDownloadStream(second)
      wire.engine.enqueue(carrier)
      wire.engine.enqueue(follower)
      follower.cancel()
      wire.queue.isSuspended = false
      _ = try await wire.answer(carrier)
      let error = try await wire.failure(follower)
      #expect(error.code == .cancelled)
      #expect(wire.origin.requestCount == 1)
    }
    check(first, opens: 1, fails: nil)
    check(second, opens: 0, fails: .cancelled)
  }

  @Test func `when its open throws`() async throws {
    let stream = RecordingStream(onOpen: { throw RecordingStream.Refusal() })
    try await withWire { wire in
      wire.origin.on("/a", .text("hello"))
      let error = try await wire.failure(wire.operation("/a").addDownloadStream(stream))
      #expect(error.code == .sinkFailed && error.reason?.hasPrefix("stream 0") == true)
    }
    check(stream, opens: 1, fails: .sinkFailed)
  }

  @Test func `after a redirect and a retry`() async throws {
    let stream = RecordingStream()
    try await withWire {
      $0.retry = .attempts(2)
    } _: { wire in
      wire.origin.on("/a", .redirect(to: "/b"))
      wire.origin.enqueue(.text("later", status: 503), for: "/b")
      wire.origin.on("/b", .text("hello"))
      _ = try await wire.answer(wire.operation("/a").addDownloadStream(stream))
    }
    check(stream, opens: 1, fails: nil)
    #expect(stream.log.bytes == Array("hello".utf8))
  }
}

private final class UnopenedUpload: UploadStream {
  struct Failure: Error {}
  let opens = Mutex(0)
  let closes = Mutex(0)
  var length: Int64? { 5 }

  func open() throws {
    opens.withLock { $0 += 1 }
    throw Failure()
  }

  func read(atMost count: Int) -> UploadChunk { .end }
  func close() { closes.withLock { $0 += 1 } }
}
