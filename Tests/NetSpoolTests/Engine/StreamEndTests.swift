import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// A stream that was given to an operation is closed exactly once, however the operation ends.
struct StreamEndTests {
  @Test func `a stream that never got its turn is closed, whatever the reason`() async throws {
    try await withEngine { engine, origin in
      let cycle = engine.operation(path: "/cycle")
      cycle.addDependency(cycle)
      let blocked = engine.operation(path: "/blocked").addDependency(engine.operation(path: "/never"))
      let table: [(NetworkOperation, String)] = [
        (engine.operation(url: "nonsense"), "invalidURL"),
        (engine.operation(path: "/a").addHeader("X A", "b"), "invalidRequest"),
        (engine.operation(path: "/a").setBody(.file("/nonexistent/file")), "uploadSourceFailed"),
        (cycle, "invalidRequest"), (blocked, "cancelled"),
      ]
      for (operation, code) in table {
        let calls = Journal<String>()
        let closed = Latch()
        operation.addDownloadStream(NotingStream(calls))
        operation.addDownloadStream(ClosureDownloadStream(onClose: { _ in closed.open() }) { _ in .accepted })
        engine.enqueue(operation)
        if operation === blocked { operation.cancel() }
        #expect(await operation.end().code?.description == code)
        await closed.opened()
        #expect(calls.entries == ["close \(code)"])
      }
      #expect(origin.connectionCount == 0)
    }
  }

  @Test func `cancelling while files are being published ends once, and nothing traps`() async throws {
    let folder = try TestFolder()
    try await withEngine { engine, origin in
      origin.on(prefix: "/", .pattern(20_000))
      let tally = Tally()
      for number in 0..<100 {
        let stream = FileDownloadStream(path: folder["\(number)"])
        let operation = engine.operation(path: "/\(number)").addDownloadStream(stream)
        // The last word about the body comes when the exchange is over and the file is not.
        tally.start(operation.onDownloadProgress { if $0.fraction == 1 { operation.cancel() } })
      }
      await tally.wait(for: 100)
      #expect(tally.isOneEach)
      #expect(tally.count("completed") + tally.count("cancelled") == 100)
    }
  }
}
