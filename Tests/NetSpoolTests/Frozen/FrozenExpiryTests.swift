import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// The end of requests that could not be sent for too long.
struct FrozenExpiryTests {
  /// A damaged file was looked through: that each request is in doubt is written first.
  @Test func `a request in doubt that is too old dies although its lane stands still`() throws {
    let folder = try TestFolder(in: TestFiles.fast)
    let clock = Variable(ClockMoment.at(0))
    let world = FrozenSpool.World(now: { clock.value }, random: { 0 })
    var store = try folder.openFrozen()
    let spool = FrozenSpool(store, world: world)
    for lifetime in [3_600, 60] {
      let request = FrozenRequest(
        method: .post, url: "https://example.org/", key: IdempotencyKey("\(lifetime)"), lane: "a")
      spool.accept(FrozenDraft(request, body: [1], lifetime: .seconds(lifetime), at: clock.value)) { _ in }
    }
    Self.write(spool)
    store.close()
    try folder.change { bytes in bytes[16] ^= 1 }
    store = try folder.openFrozen()
    #expect(store.salvaged.isDoubtful)
    // Given a later process without a network
    clock.value = .at(100)
    let later = FrozenSpool(store, world: world)
    later.scheduler.isSuspended = true
    for second in 101...103 {
      later.pump()
      Self.write(later)
      clock.value = .at(Double(second))
    }
    #expect(later.count == 1)
    #expect(try store.deadLetters(at: clock.value).map(\.letter.cause.reason) == [.expired])
  }

  private static func write(_ spool: FrozenSpool) {
    for notice in spool.journal.writeAll() { spool.take(notice) }
  }

  /// In the same process, which knows the earlier one as well.
  @Test func `a revived request has a new lifetime`() async throws {
    let (passed, maySend) = (Variable(0.0), Variable(true))
    let fixture = try FreezingFixture {
      $0.lifetime = .seconds(60)
      $0.maySend = { _ in maySend.value }
    }
    fixture.origin.on("/letters", .status(422))
    try await withQueue { queue in
      let engine = try NetworkEngine(to: fixture.origin, on: queue)
      try engine.useFreezing(fixture.configuration) { .at(passed.value) }
      let letter = engine.letter("/letters")
      let id = await engine.freeze(letter).id
      #expect(await letter.end().code == .frozenRejected)
      maySend.value = false
      passed.value = 50
      try engine.revive(id: id)
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      for (seconds, isWaiting) in [(61.0, true), (111.0, false)] {
        passed.value = seconds
        engine.thaw()
        #expect(await blocking { engine.flushFrozen(deadline: 30) })
        #expect(engine.frozenOperations.isEmpty != isWaiting && engine.deadLetters.isEmpty == isWaiting)
      }
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }
}
