import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Through a bad network")
struct ToxicTests {
  @Test(arguments: ToxicRow.all)
  func `ends every operation once and as it must`(_ row: ToxicRow) async throws {
    try await withQueue { queue in
      // Given an origin behind one toxic
      let origin = try ScriptedOrigin()
      Self.script(origin, row)
      let proxy = try FaultProxy(to: origin.port)
      let engine = try NetworkEngine(host: "127.0.0.1", on: queue) {
        ($0.scheme, $0.port, $0.retry) = (.http, proxy.port, .none)
        $0.timeouts.headers = row.isSilent ? .seconds(3) : .patience
      }
      if let toxic = row.toxic { proxy.set(toxic, on: row.direction) } else { proxy.stop() }
      // When operations of every kind go through it at once
      let folder = try TestFolder()
      let tally = Tally()
      let batch = Self.makeOperations(engine, row, folder)
      for (operation, _) in batch { tally.watch(operation) }
      let endings = await engine.enqueue(batch.map(\.0)).results
      // Then each has its one final event, the right one
      for ((operation, expected), ending) in zip(batch, endings) {
        #expect(expected.fits(ending), "\(operation): \(ending) instead of \(expected)")
      }
      #expect(tally.ended == batch.count && tally.isOneEach)
      // And once the network is well, so is the engine.
      origin.releaseAll()
      proxy.clear()
      if row.toxic == nil { try proxy.start() }
      let last = await engine.end(of: engine.operation(path: "/short"))
      #expect(last.text == "hello", "\(last)")
    }
  }

  /// Every answer closes its connection, so each operation has one of its own, with the toxic from its start.
  private static func script(_ origin: ScriptedOrigin, _ row: ToxicRow) {
    origin.on("/short", .text("hello").closing())
    origin.on("/long", .pattern(60_000).closing())
    origin.on("/upload", .text("thanks").closing())
    if row.isHeld { for path in ["/short", "/long", "/upload"] { origin.hold(path) } }
  }

  private static func makeOperations(_ engine: NetworkEngine, _ row: ToxicRow, _ folder: TestFolder)
    -> [(NetworkOperation, ToxicRow.Ending)]
  {
    (0..<4).flatMap { copy in
      let file = FileDownloadStream(path: folder["long\(copy)"])
      return [
        (engine.operation(path: "/short"), row.short),
        (engine.operation(path: "/short", method: .head), row.short),
        (engine.operation(path: "/long"), row.long),
        (engine.operation(path: "/long").addDownloadStream(file), row.long),
        (
          engine.operation(path: "/upload", method: .put).setBody(.bytes(BodyPattern.bytes(60_000))),
          row.upload
        ),
      ].map { operation, ending in
        operation.configure { $0.coalesces = false }
        return (operation, ending)
      }
    }
  }
}
