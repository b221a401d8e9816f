import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Answers that come before the answer (RFC 9110 section 15.2).
struct InformationalTests {
  @Test func `100 and 103 are told in order, with their fields, before the answer`() async throws {
    try await withEngine { engine, origin in
      // Given an origin that answers once its hints were heard
      origin.on("/a", Self.hints(then: "Content-Length: 2\r\n\r\nok"))
      let events = Journal<String>()
      let operation = engine.operation(path: "/a")
        .onInformational { head in
          events.add("\(head.status) \(head.headers["Link"] ?? "-") \(head.httpVersion)")
          if head.status == 103 { origin.release("hints") }
        }
        .onCompletion { events.add("\($0.status) \($0.headers["Link"] ?? "-")") }
      // When
      let ending = await engine.end(of: operation)
      // Then
      #expect(ending.text == "ok")
      #expect(events.entries == ["100 - HTTP/1.1", "103 </style.css>; rel=preload HTTP/1.1", "200 -"])
    }
  }

  @Test func `all that share the exchange by then are told, and none of a stored answer`() async throws {
    try await withCache { engine, origin, _ in
      // Given three equal requests that share an exchange
      origin.on("/a", Self.hints(then: "Cache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok"))
      origin.release("hints")
      let told = Journal<Int>()
      let operations = (0..<3).map { number in
        engine.operation(path: "/a").onInformational { if $0.status == 103 { told.add(number) } }
      }
      // When
      await engine.share("/a", at: origin, operations)
      for operation in operations { #expect(await operation.end().text == "ok") }
      // Then
      #expect(origin.hits("/a") == 1)
      #expect(told.entries.sorted() == [0, 1, 2])
      let hit = engine.operation(path: "/a").onInformational { _ in told.add(9) }
      #expect(await engine.end(of: hit).response?.source == .cache)
      #expect(told.count == 3)
    }
  }

  @Test func `informational answers of a redirect are told as well`() async throws {
    try await withEngine { engine, origin in
      let away = "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n"
      origin.on("/from", .raw([.text("HTTP/1.1 103 Early Hints\r\n\r\n" + away)]))
      origin.on("/to", Self.hints(then: "Content-Length: 2\r\n\r\nok"))
      origin.release("hints")
      let told = Journal<Int>()
      let operation = engine.operation(path: "/from").onInformational { told.add($0.status) }
      #expect(await engine.end(of: operation).text == "ok")
      #expect(told.entries == [103, 100, 103])
    }
  }

  /// The answer behind two that come before it, and a gate.
  static func hints(then rest: String) -> Answer {
    .raw([
      .text("HTTP/1.1 100 Continue\r\n\r\n"),
      .text("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nContent-Length: 7\r\n\r\n"),
      .gate("hints"), .text("HTTP/1.1 200 OK\r\n" + rest),
    ])
  }
}
