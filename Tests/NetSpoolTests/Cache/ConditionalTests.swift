import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("A caller's own conditional request")
struct ConditionalTests {
  @Test func `gets the plain 304 and hears of it`() async throws {
    try await withWire { wire in
      wire.origin.on("/a") { request in
        request.header("If-None-Match") == "\"v1\""
          ? Answer(status: 304, headers: ["ETag": "\"v1\""]) : Answer.text("hello")
      }
      let events = Journal<String>()
      let operation = wire.operation("/a").setHeader("If-None-Match", "\"v1\"")
        .onNotModified { events.add("notModified") }
        .onCompletion { events.add("completion \($0.status)") }.onError { events.add("error \($0)") }
      let answer = try await wire.answer(operation)
      #expect(answer.status == 304 && answer.headers["ETag"] == "\"v1\"" && answer.body.isEmpty)
      #expect(events.entries == ["notModified", "completion 304"])
    }
  }

  @Test func `the engine's own fields count as well`() async throws {
    try await withWire({ $0.headers = ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"] }) { wire in
      wire.origin.on("/a", .status(304))
      let got = try await wire.answer(wire.operation("/a"))
      #expect(got.status == 304)
    }
  }

  @Test func `a range passes through as it is`() async throws {
    try await withWire { wire in
      wire.origin.on("/a", Answer(status: 206, headers: ["Content-Range": "bytes 2-4/9"], body: .text("llo")))
      let got = try await wire.answer(wire.operation("/a").setHeader("Range", "bytes=2-4"))
      #expect(got.status == 206 && got.text == "llo")
      #expect(wire.origin.requests.first?.header("Range") == "bytes=2-4")
      #expect(wire.origin.requests.first?.header("Accept-Encoding") == nil)
    }
  }
}
