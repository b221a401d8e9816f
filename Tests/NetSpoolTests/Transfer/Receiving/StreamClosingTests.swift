import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("A stream is closed exactly once, however its operation ends")
struct StreamClosingTests {
  private func check(_ stream: RecordingStream, opens: Int, fails code: NetworkError.Code?) {
    let log = stream.log
    #expect(log.opens == opens && log.misplaced == 0)
    #expect(log.closes.map { $0?.code } == [code], "\(log.closes)")
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
    let upload = ScriptedUpload([], length: 5, refusal: RecordingStream.Refusal())
    try await withWire { wire in
      let error = try await wire.failure(wire.operation("/a", .post).setUploadStream(upload))
      #expect(error.code == .uploadSourceFailed)
    }
    #expect(upload.opens == 1 && upload.closes == 1)
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

  /// The connection dies before a byte of the body: an attempt that could be repeated, if a stream had not been told to begin.
  @Test(arguments: [FaultAction.reset, .close])
  func `also when the attempt dies right after the head`(_ fault: FaultAction) async throws {
    let stream = RecordingStream()
    try await withWire({ $0.retry = .attempts(3) }) { wire in
      wire.origin.enqueue(.pattern(1000).fault(fault, at: .body(0)), .pattern(1000), for: "/a")
      _ = await wire.result(of: wire.operation("/a").addDownloadStream(stream))
    }
    #expect(stream.log.opens == 1 && stream.log.closes.count == 1 && stream.log.misplaced == 0)
  }
}
