import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A store that engines of several queues share belongs to none of them.
struct FreezingQueuesTests {
  private let fixture: FreezingFixture

  init() throws { fixture = try FreezingFixture() }

  @Test func `another queue goes on when the first one ends`() async throws {
    fixture.origin.on(prefix: "/", .text("taken"))
    fixture.origin.stop()
    let first = try NetworkQueue()
    let firstEngine = try fixture.engine(on: first)
    try await withQueue { second in
      let engine = try fixture.engine(on: second)
      let before = engine.letter("/before")
      _ = await engine.freeze(before)
      let left = firstEngine.letter("/left")
      _ = await firstEngine.freeze(left)
      // When the queue that opened the store ends
      await blocking { #expect(first.driver.close() == 0) }
      // Then what waited for it has ended as frozen
      #expect(left.state == .frozen)
      // And the other queue sends what waits, and what comes
      try fixture.origin.start()
      #expect(await before.end().text == "taken")
      #expect(await engine.end(of: engine.letter("/after")).text == "taken")
      // What the first one left behind as well
      let outcome = try await engine.thawed()
      #expect(outcome.url.hasSuffix("/left") && (try? outcome.result.get())?.text == "taken")
      #expect(engine.frozenOperations.isEmpty && engine.deadLetters.isEmpty)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }

  @Test func `what was left is sent when a queue goes on that had not begun`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in _ = await engine.freeze(engine.letter("/letters")) }
    try fixture.origin.start()
    var standing = NetworkQueue.Configuration()
    standing.isSuspended = true
    let queue = try NetworkQueue(configuration: standing)
    let engine = try fixture.engine(on: queue)
    // Given that its turn has come, which it has at some moment behind the opening, and that it may not be sent
    #expect(await blocking { engine.flushFrozen(deadline: 30) })
    let freezer = try #require(engine.freezing?.freezer)
    #expect(await until { await freezer.look { $0.waitsForNothing } })
    #expect(!queue.driver.isStarted && engine.frozenOperations.count == 1)
    queue.isSuspended = false
    #expect(await fixture.origin.waitForHits("/letters", 1))
    await blocking {
      engine.shutDownAndWait(deadline: .seconds(5))
      #expect(queue.driver.close() == 0)
    }
  }

  /// With a queue of its own, or with one that stays and may not be sent by.
  @Test(arguments: [true, false])
  func `what waited for an engine that is gone goes another way`(isQueueItsOwn: Bool) async throws {
    fixture.origin.stop()
    try await fixture.live { engine in _ = await engine.freeze(engine.letter("/letters")) }
    var standing = fixture.configuration
    if !isQueueItsOwn { standing.maySend = { _ in false } }
    try await withQueue { queue in
      let engine = try fixture.engine(on: queue)
      let freezer = try #require(engine.freezing?.freezer)
      // Given that the newest was asked
      do {
        let newest = try NetworkEngine(to: fixture.origin, on: isQueueItsOwn ? NetworkQueue() : queue)
        try newest.useFreezing(standing)
        let number = newest.id
        if isQueueItsOwn {
          #expect(await until { await freezer.look { $0.waits(for: number) } })
        } else {
          #expect(await until { await freezer.look { $0.engines.count == 2 && $0.waitsForNothing } })
        }
      }
      // When it is gone, then the other is asked as soon as its lane is open
      let other = engine.id
      #expect(await until { await freezer.look { $0.engines.count } == 1 })
      #expect(await until { await freezer.look { $0.waits(for: other) } })
      try fixture.origin.start()
      #expect(await fixture.origin.waitForHits("/letters", 1))
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
  }

  @Test func `an engine decides about its letters while it shuts down`() async throws {
    fixture.origin.hold("/letters", .status(422))
    try await fixture.live { engine in
      let letter = engine.letter("/letters")
      let ticket = await engine.freeze(letter)
      letter.onError { _ in engine.discardDeadLetter(id: ticket.id) }
      #expect(await fixture.origin.waitForHits("/letters", 1))
      async let isShut: Void = engine.shutDown(deadline: .seconds(300))
      #expect(await until { engine.isClosed })
      fixture.origin.release("/letters")
      await isShut
    }
    try await fixture.live { engine in #expect(engine.deadLetters.isEmpty) }
  }

  @Test func `an engine that is shut down sees no requests, though another has the store`() async throws {
    fixture.origin.stop()
    try await withQueue { queue in
      let (leaving, staying) = (try fixture.engine(on: queue), try fixture.engine(on: queue))
      let ticket = await staying.freeze(staying.letter("/letters"))
      #expect(leaving.frozenOperations.map(\.id) == [ticket.id])
      await blocking { leaving.shutDownAndWait(deadline: .zero) }
      #expect(leaving.frozenOperations.isEmpty && !leaving.cancelFrozen(id: ticket.id))
      #expect(staying.cancelFrozen(id: ticket.id))
      #expect(await until { staying.deadLetters.count == 1 })
      #expect(leaving.deadLetters.isEmpty)
      #expect(throws: NetworkError.self) { try leaving.revive(id: ticket.id) }
      await blocking { staying.shutDownAndWait(deadline: .seconds(5)) }
    }
  }

  @Test func `a request keeps that queue busy which sends it`() async throws {
    try await withQueue { first in
      try await withQueue { second in
        try await fixture.live { engine in
          let freezer = try #require(engine.freezing?.freezer)
          freezer.dispatch { sender in
            for queue in [first, second, second] { sender.retain(queue.driver, for: FrozenID(99)) }
            sender.didNotLaunch(FrozenID(99))
          }
          for queue in [first, second] { #expect(await queue.drain(deadline: .seconds(30))) }
        }
      }
    }
  }

  @Test func `an engine that is shut down takes no other along`() async throws {
    fixture.origin.hold("/letters", .text("taken"))
    try await withQueue { first in
      try await withQueue { second in
        let (leaving, staying) = (try fixture.engine(on: first), try fixture.engine(on: second))
        let sent = staying.letter("/letters")
        _ = await staying.freeze(sent)
        #expect(await fixture.origin.waitForHits("/letters", 1))
        await blocking { leaving.shutDownAndWait(deadline: .zero) }
        fixture.origin.release("/letters")
        #expect(await sent.end().text == "taken")
        #expect(await staying.end(of: staying.letter("/letters")).text == "taken")
        await blocking { staying.shutDownAndWait(deadline: .seconds(5)) }
      }
    }
    #expect(fixture.origin.requestCount == 2)
  }

  @Test func `what is on its way when its queue ends is sent again by the next`() async throws {
    fixture.origin.hold("/letters", .text("taken"))
    let first = try NetworkQueue()
    let firstEngine = try fixture.engine(on: first)
    let operation = firstEngine.letter("/letters")
    let ticket = await firstEngine.freeze(operation)
    #expect(await fixture.origin.waitForHits("/letters", 1))
    try await withQueue { second in
      let engine = try fixture.engine(on: second)
      await blocking { #expect(first.driver.close() == 0) }
      #expect(operation.state == .frozen)
      fixture.origin.release("/letters")
      let outcome = try await engine.thawed()
      #expect(outcome.id == ticket.id && outcome.attempts == 2)
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
    let keys = fixture.origin.requests.map { $0.header("Idempotency-Key") }
    #expect(keys.count == 2 && Set(keys) == ["\"\(ticket.idempotencyKey)\""])
  }

  @Test func `every operation ends when queues come and go`() async throws {
    var operations: [NetworkOperation] = []
    for round in 0..<10 {
      let queue = try NetworkQueue()
      let engine = try fixture.engine(on: queue)
      for _ in 0..<20 { operations.append(engine.start(engine.letter("/letters"))) }
      if round % 2 == 0 { await blocking { engine.shutDownAndWait(deadline: .milliseconds(round)) } }
      await blocking { #expect(queue.driver.close() == 0) }
    }
    for operation in operations {
      _ = await withCheckedContinuation { continuation in
        operation.onFinal { continuation.resume(returning: $0) }
      }
    }
    #expect(operations.allSatisfy { $0.state == .frozen || $0.state == .finished })
  }

  @Test(arguments: [Duration.zero, .seconds(-60)])
  func `the store closes with the last engine`(deadline: Duration) async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    let queue = try NetworkQueue()
    func live() async throws {
      let engine = try fixture.engine(on: queue)
      _ = await engine.freeze(engine.letter("/letters"))
      await blocking { engine.shutDownAndWait(deadline: deadline) }
      // Closed when the shutdown is over: another process may have it
      let store = try FrozenStore.open(FrozenStoreSettings(directory: fixture.folder.path + "/frozen"))
      #expect(try store.numbers.count == 1)
      store.close()
    }
    try await live()
    await blocking { #expect(queue.driver.close() == 0) }
  }

  @Test func `a store may be used while its last engine leaves`() async throws {
    let fixture = try FreezingFixture { $0.maySend = { _ in false } }
    try await withQueue { queue in
      for _ in 0..<40 {
        let leaving = try fixture.engine(on: queue)
        let coming = try NetworkEngine(to: fixture.origin, on: queue)
        async let left: Void = blocking { leaving.shutDownAndWait(deadline: .zero) }
        async let came: Void = blocking {
          #expect(throws: Never.self) { try coming.useFreezing(fixture.configuration) }
        }
        _ = await (left, came)
        let operation = coming.letter("/letters")
        _ = await coming.freeze(operation)
        await blocking { coming.shutDownAndWait(deadline: .zero) }
        #expect(operation.state == .frozen)
      }
    }
    let store = try FrozenStore.open(FrozenStoreSettings(directory: fixture.folder.path + "/frozen"))
    #expect(try store.numbers.count == 40)
    store.close()
  }

  @Test func `a request that was redirected before the shutdown has been sent`() async throws {
    let fixture = try FreezingFixture { $0.idempotencyKeyField = nil }
    let second = try ScriptedOrigin(answering: .text("there"))
    second.hold("/held")
    fixture.origin.on("/letters", .redirect(to: second.url("/letters"), status: 307))
    var settings = NetworkQueue.Configuration()
    settings.maximumPerOrigin = 1
    settings.loops = .fixed(1)
    let queue = try NetworkQueue(configuration: settings)
    let engine = try fixture.engine(on: queue) { $0.redirects.resendsBodyAcrossOrigins = true }
    // Given a request that waits for its turn at the origin to which it was redirected
    engine.enqueue(engine.operation(url: second.url("/held")))
    #expect(await second.waitForWaiting("/held", 1))
    _ = await engine.freeze(engine.letter("/letters"))
    #expect(await fixture.origin.waitForHits("/letters", 1))
    await engine.settle()
    // When the engine is shut down
    await blocking { engine.shutDownAndWait(deadline: .zero) }
    await blocking { #expect(queue.driver.close() == 0) }
    // Then it is known that it may have been sent, and it is not sent again
    try await fixture.live { next in
      #expect(await blocking { next.flushFrozen(deadline: 30) })
      #expect(next.deadLetters.map(\.error.code) == [.outcomeUnknown])
    }
    #expect(fixture.origin.hits("/letters") == 1 && second.hits("/letters") == 0)
  }

  @Test func `an outcome is told once, however often handlers are added`() async throws {
    fixture.origin.stop()
    try await fixture.live { engine in
      for _ in 0..<50 { _ = await engine.freeze(engine.letter("/letters")) }
    }
    try fixture.origin.start()
    try await fixture.live { engine in
      let told = Journal<UInt64>()
      let all = Latch()
      for number in 0..<30 {
        try engine.onThawed(tag: number == 0 ? nil : "other \(number)") {
          told.add($0.id)
          if told.entries.count >= 50 { all.open() }
        }
      }
      await all.opened()
      for number in 0..<30 { try engine.onThawed(tag: "late \(number)") { told.add($0.id) } }
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      await engine.settle()
      #expect(told.entries.count == 50 && Set(told.entries).count == 50)
    }
  }

  @Test func `a dead letter whose handlers never ran is delivered after a restart`() async throws {
    fixture.origin.on("/letters", .status(422))
    fixture.origin.stop()
    var id: UInt64?
    try await fixture.live { engine in id = await engine.freeze(engine.letter("/letters")).id }
    // Given a letter that dies while nobody listens
    try fixture.origin.start()
    try await fixture.live { engine in
      while engine.deadLetters.isEmpty { await engine.settle() }
    }
    // Then the next process is told, once
    for isFirst in [true, false] {
      try await fixture.live { engine in
        let told = Journal<ThawedOutcome>()
        let isDelivered = Latch()
        try engine.onThawed {
          told.add($0)
          isDelivered.open()
        }
        if isFirst { await isDelivered.opened() }
        #expect(await blocking { engine.flushFrozen(deadline: 30) })
        #expect(told.entries.map(\.id) == (isFirst ? [id] : []))
        #expect(engine.deadLetters.map(\.id) == [id])
        if case .failure(let error)? = told.entries.first?.result { #expect(error.code == .frozenRejected) }
      }
    }
  }
}

extension Freezer {
  /// What is so on its thread.
  fileprivate func look<Value: Sendable>(_ read: @escaping @Sendable (FrozenSender) -> Value) async -> Value {
    await withCheckedContinuation { asked in dispatch { asked.resume(returning: read($0)) } }
  }
}

extension FrozenSender {
  /// A request waits for the way that this engine has.
  fileprivate func waits(for engine: UInt64) -> Bool {
    ways.contains { $0.key.engine == engine && !$0.value.held.isEmpty }
  }

  /// Nothing is due before requests expire.
  fileprivate var waitsForNothing: Bool { spool.nextDue ?? .max > BootClock.now + 3_600 * .second }
}
