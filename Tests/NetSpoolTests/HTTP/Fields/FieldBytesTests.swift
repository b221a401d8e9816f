import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Values of fields that are no UTF-8.
struct FieldBytesTests {
  private static let value = Array("caf".utf8) + [0xE9]

  private static func answer(_ name: String, _ value: [UInt8], status: Int = 200) -> Answer {
    .raw([
      .text("HTTP/1.1 \(status) So\r\nContent-Length: 2\r\n\(name): "), .bytes(value), .text("\r\n\r\nok"),
    ])
  }

  @Test func `a value is read as Latin-1 where it is no UTF-8, and its bytes are kept`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Self.answer("X-Name", Self.value))
      let response = try await engine.get("/a").end().get()
      #expect(response.headers["X-Name"] == "caf\u{E9}")
      #expect(response.headers.values(for: "x-name") == ["caf\u{E9}"])
      #expect(response.headers.bytes(of: "x-name") == Self.value)
      #expect(response.headers.first { $0.name == "X-Name" }?.bytes == Self.value)
      #expect(response.headers.bytes(of: "X-None") == nil)
      origin.on("/b", Self.answer("X-Name", Array("caf\u{E9}".utf8)))
      #expect(try await engine.get("/b").end().get().headers["X-Name"] == "caf\u{E9}")
    }
  }

  @Test func `bytes that are given are sent`() async throws {
    try await withEngine { engine, origin in
      origin.fallback(.text("ok"))
      var request = NetworkRequest(path: "a")
      request.headers.add("X-Name", bytes: Self.value)
      _ = try await engine.response(for: request)
      let head = try #require(origin.requests.first).headBytes
      let line = Array("X-Name: ".utf8) + Self.value + [0x0D, 0x0A]
      #expect(head.indices.contains { head[$0...].starts(with: line) })
    }
  }

  @Test(arguments: [[0x0A], [0x0D], [0]] as [[UInt8]])
  func `a line end among bytes is refused`(_ end: [UInt8]) async throws {
    try await withEngine { engine, origin in
      var request = NetworkRequest(path: "a")
      request.headers.add("X-Name", bytes: Self.value + end)
      await #expect(throws: NetworkError.self) { try await engine.response(for: request) }
      #expect(origin.requestCount == 0)
    }
  }

  @Test func `a redirect leads to the bytes that it names`() async throws {
    try await withEngine { engine, origin in
      origin.on("/a", Self.answer("Location", Array("/".utf8) + Self.value, status: 302))
      origin.on("/caf%E9", .text("here"))
      #expect(await engine.get("/a").end().text == "here")
    }
  }
}
