import NetSpool
import NetSpoolTesting
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

  private static let answers: [(Answer, opens: Int, NetworkError.Code?)] = [
    (.text("hello"), 1, nil), (.status(204), 1, nil), (.status(200), 1, nil),
    (.text("sorry", status: 500), 0, .status), (.pattern(10_000).closeAfter(500), 1, .bodyTruncated),
  ]

  @Test func `after any answer`() async throws {
    try await withWire { wire in
      for (answer, opens, code) in Self.answers {
        let stream = RecordingStream()
        wire.origin.on("/a", answer)
        let result = await wire.result(of: wire.operation("/a").addDownloadStream(stream))
        #expect(
          result.code == code && (code != .status || result.error?.response?.text == "sorry"), "\(result)")
        check(stream, opens: opens, fails: code)
      }
    }
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
    #expect(upload.opens.value == 1 && upload.closes.value == 1)
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
    try await withWire({ $0.retry = .attempts(2) }) { wire in
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
  let (opens, closes) = (Counter(), Counter())
  var length: Int64? { 5 }

  func open() throws {
    opens.add()
    throw Failure()
  }

  func read(atMost count: Int) -> UploadChunk { .end }
  func close() { closes.add() }
}
