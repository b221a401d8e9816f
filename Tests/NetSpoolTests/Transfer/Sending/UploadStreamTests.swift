import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Uploads from a stream")
struct UploadStreamTests {
  private static let pieces: [UploadChunk] = [
    .bytes(Array("one ".utf8)), .pause, .bytes(Array("two ".utf8)), .pause, .pause,
    .bytes(Array("three".utf8)),
  ]

  @Test(arguments: [13, nil] as [Int64?]) func `send what the stream gives`(_ length: Int64?) async throws {
    let (stream, seen) = (ScriptedUpload(Self.pieces, length: length), Journal<TransferProgress>())
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      let operation = wire.operation("/a").setUploadStream(stream, contentType: "text/x-own")
      _ = try await wire.answer(operation.onUploadProgress { seen.add($0) })
      let request = try #require(wire.origin.requests.first)
      #expect(request.text == "one two three" && request.method == "POST")
      #expect(request.header("Content-Type") == "text/x-own")
      #expect(request.header("Content-Length") == length.map(String.init))
      #expect((request.header("Transfer-Encoding") == "chunked") == (length == nil))
    }
    #expect(stream.opens == 1 && stream.closes == 1 && seen.entries.last?.done == 13)
  }

  @Test(arguments: [12, 14, 1_000_000] as [Int64])
  func `fail when the length was wrong`(_ length: Int64) async throws {
    let stream = ScriptedUpload(Self.pieces, length: length)
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      let error = try await wire.failure(wire.operation("/a").setUploadStream(stream))
      #expect(error.code == .uploadLengthMismatch && !error.isRetrySafe, "\(error)")
      #expect(wire.origin.requests.allSatisfy { !$0.isComplete })
      // The next request has a connection of its own.
      _ = try await wire.answer(wire.operation("/b"))
      #expect(wire.origin.requests.last?.indexOnConnection == 0)
    }
    #expect(stream.opens == 1 && stream.closes == 1)
  }

  @Test func `fail before anything is sent when no bytes were declared and some come`() async throws {
    let stream = ScriptedUpload([.bytes([1])], length: 0)
    try await withWire { wire in
      let error = try await wire.failure(wire.operation("/a").setUploadStream(stream))
      #expect(error.code == .uploadLengthMismatch && wire.origin.requests.isEmpty, "\(error)")
    }
    #expect(stream.opens == 1 && stream.closes == 1)
  }

  @Test func `report progress`() async throws {
    try await withWire { wire in
      wire.origin.on("/a", .text("ok"))
      let stream = ScriptedUpload(
        (0..<64).flatMap { _ in [.bytes([UInt8](repeating: 7, count: 16 << 10)), .pause] }, length: 1 << 20)
      let seen = Journal<TransferProgress>()
      _ = try await wire.answer(
        wire.operation("/a", .put).setUploadStream(stream).onUploadProgress { seen.add($0) })
      #expect(
        seen.entries.count > 1 && seen.entries.last?.done == 1 << 20 && seen.entries.last?.fraction == 1)
      #expect(seen.entries.map(\.done) == seen.entries.map(\.done).sorted())
      #expect(seen.entries.allSatisfy { $0.total == 1 << 20 })
    }
  }

  @Test func `close when cancelled`() async throws {
    let stream = ScriptedUpload([.bytes([1])] + [UploadChunk](repeating: .pause, count: 100_000), length: 2)
    try await withWire { wire in
      let operation = wire.operation("/a", .put).setUploadStream(stream)
      operation.onUploadProgress { [weak operation] _ in operation?.cancel() }
      let error = try await wire.failure(operation)
      #expect(error.code == .cancelled)
    }
    #expect(stream.opens == 1 && stream.closes == 1)
  }
}
