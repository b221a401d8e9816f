import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Multipart bodies as they arrive")
struct MultipartUploadTests {
  static func parts(of request: RecordedRequest) throws -> [ParsedPart] {
    let (start, type) = ("multipart/form-data; boundary=", try #require(request.header("Content-Type")))
    #expect(type.hasPrefix(start))
    let boundary = String(type.dropFirst(start.count)).replacing("\"", with: "")
    return try ParsedPart.parse(request.body, boundary: boundary)
  }

  @Test func `a get with a file becomes a post`() async throws {
    let folder = try TestFolder()
    let path = try folder.write("a \"b\".png", BodyPattern.bytes(300_000))
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      let tricky = Array("\r\n--boundary--\r\nContent-Type: no\r\n\r\n".utf8)
      let operation = wire.engine.operation(url: wire.origin.url("/a"))
        .addFile(path, forKey: "photo", mimeType: "image/png").addData(tricky, forKey: "tricky")
        .addData([0, 255], forKey: "raw", mimeType: "application/x-own", fileName: "raw.bin")
        .addParameter("title", "ü")
      _ = try await wire.answer(operation)
      let request = try #require(wire.origin.requests.first)
      #expect(request.method == "POST" && request.header("Content-Length") == "\(request.bodyCount)")
      let parts = try Self.parts(of: request)
      // Fields stand before files, as some servers want it
      let bodies = [Array("ü".utf8), BodyPattern.bytes(300_000), tricky, [0, 255]]
      #expect(parts.count == 4 && zip(parts, bodies).allSatisfy { $0.content == $1 })
      #expect(parts[0].head.contains("name=\"title\""))
      #expect(
        parts[1].head.contains("name=\"photo\"") && parts[1].head.contains("filename=\"a %22b%22.png\""))
      #expect(parts[1].head.contains("Content-Type: image/png"))
      #expect(parts[2].head.contains("name=\"tricky\"") && !parts[2].head.contains("filename"))
      #expect(parts[3].head.contains("filename=\"raw.bin\""))
    }
  }

  @Test func `the boundary is another each time`() async throws {
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      for _ in 0..<2 { _ = try await wire.answer(wire.operation("/a").addData([1], forKey: "a")) }
      let types = wire.origin.requests.compactMap { $0.header("Content-Type") }
      #expect(types.count == 2 && types[0] != types[1])
    }
  }

  @Test func `a missing file ends it before anything is sent`() async throws {
    try await withWire { wire in
      for operation in [
        wire.operation("/a").addFile("/none/there", forKey: "a"),
        wire.operation("/a").setBody(.file("/none/there")), wire.operation("/a").setBody(.file("/tmp")),
      ] {
        let error = try await wire.failure(operation)
        #expect(error.code == .uploadSourceFailed && error.isRetrySafe, "\(error)")
      }
      #expect(wire.origin.connectionCount == 0)
    }
  }

  @Test(arguments: [true, false])
  func `a file that changed before it was sent is not`(_ isMultipart: Bool) async throws {
    let folder = try TestFolder()
    let path = try folder.write("a", Array("hello".utf8))
    try await withWire { wire in
      wire.queue.isSuspended = true
      let operation = wire.operation("/a", .put)
      if isMultipart { operation.addFile(path, forKey: "a") } else { operation.setBody(.file(path)) }
      wire.engine.enqueue(operation)
      try folder.write("a", Array("longer".utf8))
      wire.queue.isSuspended = false
      let error = try await wire.failure(operation)
      #expect(error.code == .uploadSourceFailed && error.reason == "changed", "\(error)")
      #expect(wire.origin.requestCount == 0)
    }
  }

  /// A sparse file of 4 GiB, sent and counted by the origin, in 64 MiB of memory.
  @Test(.onlyInLongRuns) func `a large file is never held`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let path = try folder.write("a", [])
      _ = try ChildProcess.run(["truncate", "-s", "4G", path])
      let origin = try CountingOrigin()
      try await withWire({ ($0.timeouts.total, $0.timeouts.headers) = (nil, .seconds(300)) }) { wire in
        let before = MemoryUse.resident
        let answer = try await wire.answer(wire.engine.operation(url: origin.url).addFile(path, forKey: "a"))
        #expect((answer.text.flatMap { Int($0) } ?? 0) > 4 << 30)
        #expect(MemoryUse.resident - before < 64 << 20)
      }
    }
  }
}
