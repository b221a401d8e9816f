import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What programs need that show a store to people: looking without sending, and without changing.
struct FreezingStoreTests {
  @Test func `what is given up or forgotten is on the disk when its engine has been shut down`() async throws
  {
    let fixture = try FreezingFixture()
    fixture.origin.stop()
    var numbers: [UInt64] = []
    try await fixture.live { engine in
      for _ in 0..<40 { numbers.append(await engine.freeze(engine.letter("/letters")).id) }
    }
    try await fixture.live { engine in
      for number in numbers { #expect(engine.cancelFrozen(id: number)) }
      await engine.shutDown(deadline: .zero)
    }
    let store = try FrozenStore.open(FrozenStoreSettings(directory: fixture.folder.path + "/frozen"))
    #expect(try store.numbers.isEmpty)
    store.close()
    try await fixture.live { engine in
      #expect(engine.deadLetters.map(\.id) == numbers)
      for number in numbers { engine.discardDeadLetter(id: number) }
    }
    try await fixture.live { engine in #expect(engine.deadLetters.isEmpty) }
  }

  @Test func `a handler that comes late hears that the request is on the disk`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.hold("/letters")
    try await fixture.live { engine in
      let letter = engine.letter("/letters")
      let ticket = await engine.freeze(letter)
      // While it waits, and when it has ended
      let heard = Journal<FrozenTicket>()
      for isEnded in [false, true] {
        if isEnded {
          fixture.origin.release("/letters")
          #expect(await letter.end().text == "taken")
        }
        let isHeard = Latch()
        letter.onFrozen {
          heard.add($0)
          isHeard.open()
        }
        await isHeard.opened()
        let again = try await engine.frozenTicket(for: letter)
        #expect(again == ticket)
      }
      #expect(heard.entries == [ticket, ticket])
      let outcome = try await heard.entries[1].outcome.get()
      #expect(outcome.status == 200)
    }
  }

  @Test func `a lane that a letter halts goes on when that has been swept away`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on("/letters", .status(500))
    let store = try fixture.open {
      ($0.store.keptRowsMax, $0.store.sweepPeriod) = (0, 20_000)
      ($0.policy.attemptsMax, $0.policy.haltsLaneOnPoison) = (1, true)
    }
    defer { store.leave() }
    try await fixture.live { engine in
      let ending = await engine.end(of: engine.letter("/letters"))
      #expect(ending.code == .frozenPoisoned, "\(ending)")
      fixture.origin.on("/letters", .text("taken"))
      #expect(await engine.end(of: engine.letter("/letters")).text == "taken")
    }
  }

  @Test func `a second death is told of while the first is heard`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.on("/letters", .status(422))
    try await fixture.live { engine in
      let (deaths, hears, isTwice) = (Counter(), Latch(), Latch())
      try engine.onThawed { outcome in
        guard deaths.add() == 1 else { return isTwice.open() }
        // Given a handler that has it sent again and goes on
        do { try engine.revive(id: outcome.id) } catch { Issue.record(error) }
        let isDead = (0..<3_000).contains { _ in
          if fixture.origin.hits("/letters") == 3, !engine.deadLetters.isEmpty { return true }
          usleep(10_000)
          return false
        }
        #expect(isDead)
        hears.open()
      }
      let letter = engine.letter("/letters")
      _ = await engine.freeze(letter)
      #expect(await letter.end().code == .frozenRejected)
      let id = try #require(engine.deadLetters.first?.id)
      try engine.revive(id: id)
      await hears.opened()
      await isTwice.opened()
    }
    #expect(fixture.origin.hits("/letters") == 3)
  }

  @Test func `outcomes that no handler has heard are handed over some at a time, each once`() async throws {
    let fixture = try FreezingFixture()
    try await fixture.live { engine in
      let freezing = try #require(engine.freezing)
      let (store, count) = (freezing.freezer.store, 600)
      // Given many that an earlier process left
      var record = FrozenRecord.sample(scope: freezing.scope)
      record.facts.lastStatus = 200
      let outcome = FrozenOutcome(record, headers: Headers(), body: [1], at: .now)
      store.write((0..<count).map { _ in .accept(.sample("x"), body: []) })
      let numbers = try store.numbers
      let ending = FrozenEnding(endedAt: .now, payload: outcome.encode())
      store.write(numbers.map { .finish($0, ending) })
      // When the handler takes its time
      let (goesOn, isTold, told) = (Latch(), Latch(), Journal<UInt64>())
      try engine.onThawed { outcome in
        goesOn.block()
        told.add(outcome.id)
        if told.count == count { isTold.open() }
      }
      let atOnce = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
        freezing.freezer.dispatch { continuation.resume(returning: $0.undelivered.count) }
      }
      #expect(atOnce == 256)
      goesOn.open()
      await isTold.opened()
      #expect(told.entries.sorted() == numbers)
    }
  }

  @Test func `a store that closes lets go of engines that ask at the last moment`() async throws {
    let fixture = try FreezingFixture()
    let (turn, gate) = (try Gate(), try Gate())
    let engine: FrozenSender.WeakEngine
    do {
      let made = try NetworkEngine(to: fixture.origin, on: NetworkQueue()) { _ in }
      engine = FrozenSender.WeakEngine(engine: made)
      try made.useFreezing(fixture.configuration)
      let freezing = try #require(made.freezing)
      // In the last turn, and before the store is closed
      freezing.freezer.dispatch { _ in
        turn.open()
        gate.wait()
      }
      turn.wait()
      freezing.end()
      freezing.freezer.dispatch { _ in _ = made.id }
      gate.open()
    }
    let isGone = await until { engine.engine == nil }
    #expect(isGone)
  }

  @Test func `a store that could not be opened is replaced by no other`() async throws {
    try await withEngine { engine, origin in
      let folder = try TestFolder()
      try TestFiles.write([], to: folder["file"])
      for _ in 0..<2 {
        let error = #expect(throws: NetworkError.self) {
          try engine.useFreezing(FreezeConfiguration(directory: folder["file"]))
        }
        #expect(error?.code == .storeOpenFailed)
        let request = NetworkRequest(path: "a", body: "x")
        let refused = await #expect(throws: NetworkError.self) { try await engine.frozenTicket(for: request) }
        #expect(refused?.code == .storeOpenFailed && origin.requestCount == 0)
      }
    }
  }

  @Test func `only what may be sent is sent`() async throws {
    let permitted = Variable<Set<String>>([])
    let fixture = try FreezingFixture { $0.maySend = { request in permitted.value.contains(request.lane) } }
    fixture.origin.on(prefix: "/", .text("taken"))
    try await fixture.live { engine in
      var operations: [NetworkOperation] = []
      for lane in ["a", "b"] {
        let operation = engine.letter("/\(lane)")
        operation.configure { $0.freezing.lane = lane }
        _ = await engine.freeze(operation)
        operations.append(operation)
      }
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      #expect(engine.frozenOperations.map(\.lane) == ["a", "b"])
      #expect(engine.frozenOperations.allSatisfy { !$0.isBeingSent && $0.attempts == 0 })
      #expect(fixture.origin.requestCount == 0)
      // One of them
      permitted.value = ["b"]
      engine.thaw()
      #expect(await operations[1].end().text == "taken")
      #expect(engine.frozenOperations.map(\.lane) == ["a"])
      // And the other
      permitted.value = ["a"]
      engine.thaw()
      #expect(await operations[0].end().text == "taken")
      #expect(fixture.origin.requests.map(\.path) == ["/b", "/a"])
    }
  }

  @Test func `a priority that is changed while it waits is that of the next attempt`() async throws {
    let maySend = Variable(false)
    let fixture = try FreezingFixture { $0.maySend = { _ in maySend.value } }
    fixture.origin.hold("/letters")
    try await fixture.live { engine in
      let letter = engine.letter("/letters")
      _ = await engine.freeze(letter)
      letter.priority = .urgent
      maySend.value = true
      engine.thaw()
      #expect(await fixture.origin.waitForHits("/letters", 1))
      let freezer = try #require(engine.freezing).freezer
      let priority = await withCheckedContinuation {
        (continuation: CheckedContinuation<NetworkRequest.Priority?, Never>) in
        freezer.dispatch { continuation.resume(returning: $0.attempts.values.first?.operation?.priority) }
      }
      #expect(priority == .urgent)
      fixture.origin.release("/letters")
      #expect(await letter.end().text == "taken")
    }
  }

  @Test func `the origin is the lane of what names none`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await fixture.live { engine in
      _ = await engine.freeze(engine.letter("/letters"))
      #expect(engine.frozenOperations.map(\.lane) == ["http://127.0.0.1:\(fixture.origin.port)"])
    }
  }

  @Test func `a frozen request is shown as a command without its secrets`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await fixture.live { engine in
      let operation = engine.letter("/letters?token=s3cret").setHeader("X-Api-Key", "s3cret")
      let ticket = await engine.freeze(operation)
      let command = try #require(engine.frozenOperations.first?.curlCommand)
      #expect(command.contains("Idempotency-Key: \"\(ticket.idempotencyKey)\""))
      #expect(command.contains("/letters?token=") && command.contains("X-Api-Key: "))
      #expect(command.contains("--data-binary '@/dev/stdin'"))
      #expect(!command.contains("s3cret"))
    }
  }

  @Test func `an equal request waits for none that is lost`() async throws {
    let fixture = try FreezingFixture()
    try await fixture.live { engine in
      // Given a row that is in no lane any more, as when it was found damaged: the others have been read before
      #expect(await engine.end(of: engine.letter("/letters")).text == "taken")
      let freezing = try #require(engine.freezing)
      _ = try freezing.freezer.store.accept("lost", dedupe: "\(freezing.scope)\nonce")
      let letter = engine.letter("/letters").configure { $0.freezing.dedupeKey = "once" }
      letter.onFrozen { _ in Issue.record("it was said to be kept") }
      #expect(await engine.end(of: letter).code == .storeCorrupt)
      #expect(await engine.end(of: engine.letter("/letters")).text == "taken")
    }
  }

  @Test func `a store that is closed holds nothing`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await fixture.live { engine in
      let ticket = await engine.freeze(engine.letter("/letters"))
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
      #expect(engine.frozenOperations.isEmpty && engine.deadLetters.isEmpty)
      #expect(!engine.cancelFrozen(id: ticket.id))
      #expect(throws: NetworkError.self) { try engine.revive(id: ticket.id) }
    }
    try await fixture.live { engine in #expect(engine.frozenOperations.count == 1) }
  }

  @Test func `looking at a store changes nothing`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    let directory = fixture.folder.path + "/frozen"
    try await fixture.live { engine in
      #expect(engine.frozenStoreFinding == .nothing)
      _ = await engine.freeze(engine.letter("/letters"))
    }
    #expect(try FrozenStoreFinding.inspect(directory) == .whole)
    // Garbage is named and stays where it is
    try TestFiles.write(String(repeating: "garbage ", count: 2_000).utf8, to: directory + "/data.mdb")
    for _ in 0..<2 {
      guard case .damaged(_, nil) = try FrozenStoreFinding.inspect(directory) else {
        Issue.record("garbage was taken for a store")
        return
      }
    }
    try await fixture.live { engine in
      guard case .damaged(_, let name?) = engine.frozenStoreFinding else {
        Issue.record("garbage was opened")
        return
      }
      #expect(unsafe access("\(directory)/\(name)", F_OK) == 0)
    }
  }

  @Test(arguments: [true, false])
  func `a damaged store is told of, and what is whole in it goes on`(isAsked: Bool) async throws {
    let (told, unhandled) = (Journal<FrozenStoreDamage>(), Journal<NetworkError>())
    let isDelivered = Latch()
    let fixture = try FreezingFixture {
      $0.maySend = { _ in false }
      guard isAsked else { return }
      $0.onDamage = {
        told.add($0)
        isDelivered.open()
      }
    }
    let path = fixture.folder.path + "/frozen/data.mdb"
    var id: UInt64?
    try await fixture.live { engine in id = await engine.freeze(engine.letter("/letters")).id }
    #expect(told.entries.isEmpty)
    var bytes = try TestFiles.read(path)
    bytes[16] ^= 1
    try TestFiles.write(bytes, to: path)
    try await fixture.live {
      $0.onUnhandledFailure = {
        unhandled.add($0)
        isDelivered.open()
      }
    } _: { engine in
      await isDelivered.opened()
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      #expect(engine.frozenOperations.map(\.id) == [id])
      if isAsked {
        let damage = try #require(told.entries.first)
        #expect(damage.salvaged == 1 && damage.damaged.isEmpty && damage.reason == "meta page")
        let isKept = try unsafe access(#require(damage.movedTo), F_OK) == 0
        #expect(isKept && told.entries.count == 1 && unhandled.entries.isEmpty)
      } else {
        #expect(unhandled.entries.map(\.code) == [.storeCorrupt])
      }
    }
  }
}
