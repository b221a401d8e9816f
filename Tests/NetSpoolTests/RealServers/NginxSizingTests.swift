import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// The adaptive width against the limits that people configure in nginx. Refusals are counted, not seconds.
@Suite("Against an nginx with limits", .needsNginx)
struct NginxSizingTests {
  /// Asks for so many and counts what nginx says: `refused` are answered with 429.
  private func fetch(
    _ count: Int, _ path: String, from server: NginxServer, on wire: Wire
  ) async throws -> (completed: Int, refused: Int) {
    let operations = (0..<count).map { wire.engine.operation(url: server.url("\(path)?\($0)")) }
    let results = await wire.engine.enqueue(operations).results
    let logged = try server.requests().filter { $0.target.hasPrefix(path) }
    return (results.count { $0.response != nil }, logged.count { $0.status == 429 })
  }

  @Test func `a limit of requests at once is found`() async throws {
    let server = try NginxServer()
    try await withWire { wire in
      wire.origin.on(prefix: "/slow", .text("ok").delay(.milliseconds(15)))
      let outcome = try await fetch(400, "/few/\(wire.origin.port)/slow", from: server, on: wire)
      #expect(outcome.completed + outcome.refused == 400, "\(outcome)")
      #expect(outcome.refused <= 40, "\(outcome)")
    }
  }

  @Test(.notSanitized(.timeIsNoMeasure)) func `a limit of requests in a time is found`() async throws {
    let (adaptiveServer, fixedServer) = (try NginxServer(), try NginxServer())
    try await withWire { wire in
      let adaptive = try await fetch(300, "/paced/hello.txt", from: adaptiveServer, on: wire)
      wire.queue.sizing = .fixed(16)
      let fixed = try await fetch(300, "/paced/hello.txt", from: fixedServer, on: wire)
      #expect(adaptive.completed + adaptive.refused == 300, "\(adaptive)")
      #expect(adaptive.refused * 3 <= fixed.refused * 2, "\(adaptive), fixed: \(fixed)")
    }
  }
}
