import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What MKNetworkKit got wrong, and what no other suite holds.
struct AncestorDefectTests {
  // MARK: Frozen requests

  @Test func `emptying the cache leaves frozen requests`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.stop()
    try await fixture.live { engine in
      try engine.useCache(.patient(fixture.folder.path + "/cache"))
      _ = await engine.freeze(engine.letter("/letters"))
      engine.emptyCache()
      #expect(engine.frozenOperations.count == 1)
    }
  }

  @Test func `freezing leaks no slot`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on(prefix: "/", .text("taken"))
    let rounds = LongRun.isOn ? 20_000 : 200
    try await fixture.live { engine in
      for round in 0..<rounds {
        let letter = engine.letter("/\(round)")
        letter.configure { $0.freezing.lane = "\(round)" }
        if round % 2 == 0 {
          #expect(await engine.end(of: letter).text == "taken")
        } else {
          _ = await engine.freeze(letter)
          letter.cancel()
          _ = await letter.end()
        }
      }
      let queue = engine.configuration.queue
      #expect(await blocking { queue.drainAndWait(deadline: .patience) })
      // An attempt whose letter is gone ends by itself.
      #expect(await until { queue.activity.running == 0 && queue.activity.frozen == 0 })
      // Every slot is free: as many as before run at once
      fixture.origin.hold("/held", .text("held"))
      let operations = engine.start(engine.apart(16, "/held"))
      #expect(await fixture.origin.waitForHits("/held", 16))
      fixture.origin.release("/held", count: 16)
      for operation in operations { #expect(await operation.end().text == "held") }
    }
  }

  // MARK: The cache

  @Test func `what must not be stored is not on the disk`() async throws {
    let folder = try TestFolder()
    try await withCache({ $0.directory = folder.path }) { engine, origin, _ in
      origin.on("/secret", .text("PLANTED").header("Cache-Control", "no-store"))
      #expect(await engine.fetch("/secret").text == "PLANTED")
      origin.on("/seen", .text("seen").header("Cache-Control", "max-age=60"))
      #expect(await engine.fetch("/seen").text == "seen")
      await blocking { engine.flushCache() }
    }
    let store = folder.path + "/data.mdb"
    #expect(try TestFiles.file(store, holds: "/seen") && !TestFiles.file(store, holds: "PLANTED"))
  }
}
