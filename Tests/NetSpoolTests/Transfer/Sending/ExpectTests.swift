import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Expect: 100-continue and early answers (RFC 9110 section 10.1.1)")
struct ExpectTests {
  private static let long = [UInt8](repeating: 7, count: 3 << 20)

  @Test(arguments: [ExpectPolicy.answer, .ignore])
  func `long bodies ask first`(_ policy: ExpectPolicy) async throws {
    try await withWire(alone: true) { wire in
      wire.origin.expectPolicy = policy
      wire.origin.on("/a", .text("ok"))
      let start = ContinuousClock.now
      _ = try await wire.answer(wire.operation("/a", .put).setBody(.bytes(Self.long)))
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let request = try #require(wire.origin.requests.first)
      #expect(request.header("Expect") == "100-continue" && request.bodyCount == Self.long.count)
      if policy == .ignore { #expect(seconds > 0.9) }
    }
  }

  @Test(arguments: ["GET", "PUT", "POST"])
  func `a refusal is followed by the request without`(_ method: String) async throws {
    try await withWire { wire in
      wire.origin.onHead("/a") { $0.header("Expect") == nil ? nil : .status(417).closing() }
      wire.origin.on("/a", .text("ok"))
      let operation = wire.operation("/a", NetworkRequest.Method(method)).setBody(.bytes(Array("hello".utf8)))
        .setHeader("Expect", "100-continue")
      #expect(try await wire.answer(operation).text == "ok")
      let request = try #require(wire.origin.requests.last)
      #expect(request.header("Expect") == nil && request.text == "hello")
    }
  }

  @Test func `a refusal of a body that cannot be sent again is the answer`() async throws {
    try await withWire { wire in
      wire.origin.onHead("/a") { $0.header("Expect") == nil ? nil : .status(417).closing() }
      let stream = ScriptedUpload([.bytes([1])], isReopenable: false)
      let operation = wire.operation("/a", .put).setUploadStream(stream).setHeader("Expect", "100-continue")
      let error = try await wire.failure(operation)
      #expect(error.code == .status && error.response?.status == 417)
      #expect(stream.opens == 0 && stream.closes == 0)
    }
  }

  @Test func `an early refusal stops the upload`() async throws {
    try await withWire { wire in
      wire.origin.onHead("/a") { _ in Answer.text("too large", status: 413).early().closing() }
      let piece = [UInt8](repeating: 1, count: 64 << 10)
      let stream = ScriptedUpload([UploadChunk](repeating: .bytes(piece), count: 4_096), length: 256 << 20)
      let operation = wire.operation("/a", .put).setUploadStream(stream).setHeader("Expect", "")
      let sent = Journal<Int64>()
      operation.onUploadProgress { sent.add($0.done) }
      let error = try await wire.failure(operation)
      #expect(error.code == .status && error.response?.text == "too large", "\(error)")
      #expect((sent.entries.last ?? 0) < 200 << 20)
      #expect(stream.closes == 1)
      wire.origin.on("/b", .text("ok"))
      #expect(try await wire.answer(wire.operation("/b")).text == "ok")
    }
  }
}
