import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// The threads that a frozen request passes, and what a disk that hangs holds up on them.
struct FreezingThreadsTests {
  /// The threads on which something was done for a request, in their order.
  private final class Trail: Sendable {
    private let threads = Mutex<(isOpen: Bool, passed: [pthread_t])>((false, []))

    func begin() { threads.withLock { $0 = (true, [pthread_self()]) } }

    func mark() {
      threads.withLock { threads in
        if threads.isOpen, threads.passed.last != pthread_self() { threads.passed.append(pthread_self()) }
      }
    }

    func end() {
      mark()
      threads.withLock { $0.isOpen = false }
    }

    var changes: Int { threads.withLock { $0.passed.count - 1 } }
  }

  /// Every decision about a frozen request asks for the time, and every commit passes the disk's hook: what is between the
  /// loop that hands the request over and the handler that hears of its outcome is seen to the last change.
  @Test func `a frozen POST changes threads four times from its loop to its handler there`() async throws {
    let (trail, isUnderWay, isOver, hasLeft) = (Trail(), Latch(), Latch(), Once())
    let fixture = try FreezingFixture()
    let store = try fixture.open { settings in
      let now = settings.now
      settings.store.onDisk = { trail.mark() }
      settings.now = {
        trail.mark()
        return now()
      }
    }
    defer { store.leave() }
    try await fixture.live {
      $0.delivery = .loopThread
    } _: { engine in
      // Given an origin to which the way is known
      #expect(await engine.end(of: engine.letter("/letters")).text == "taken")
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      // When a request leaves from the loop, for a handler on the loop
      fixture.origin.hold("/letters")
      let operation = engine.letter("/letters").onUploadProgress { _ in
        // A slow machine hears of it twice
        if hasLeft.first() { trail.mark() }
        isUnderWay.open()
      }
      operation.onFinal { _ in
        trail.end()
        isOver.open()
      }
      engine.perform { _ in
        trail.begin()
        engine.enqueue(operation)
      }
      await isUnderWay.opened()
      // The freezer's thread may look at its watch meanwhile
      await withCheckedContinuation { asked in
        engine.freezing?.freezer.dispatch { _ in
          trail.mark()
          asked.resume()
        }
      }
      fixture.origin.release("/letters")
      await isOver.opened()
      // Then it has been on the freezer's thread twice; a caller and a handler on threads of their own make it six
      #expect(trail.changes == 4)
    }
  }

  // MARK: A disk that hangs

  @Test(arguments: [true, false])
  func `an engine shuts down and a queue closes in time while the disk hangs`(closes: Bool) async throws {
    let (fixture, disk) = (try FreezingFixture(), StoppedDisk())
    let store = try fixture.open { $0.store.onDisk = { disk.pass() } }
    if closes { fixture.origin.hold("/letters") } else { fixture.origin.stop() }
    try await withQueue { queue in
      let engine = try fixture.engine(on: queue)
      // It is the last that uses the store, which closes with it.
      store.leave()
      let kept = engine.letter("/letters")
      let ticket = await engine.freeze(kept)
      // Given a request that is being written
      disk.stop()
      let asked = engine.start(engine.letter("/letters"))
      await disk.isMissed()
      // Others of the queue go on, and so does a thread that looks at what is frozen, or decides about it
      let elsewhere = try ScriptedOrigin(answering: .text("other"))
      let other = try NetworkEngine(to: elsewhere, on: queue) { $0.delivery = .loopThread }
      try await goesOn(other, beside: disk)
      await blocking {
        #expect(engine.frozenOperations.map(\.id) == [ticket.id])
        if closes {
          #expect(engine.cancelFrozen(id: ticket.id))
          #expect(engine.deadLetters.isEmpty)
          #expect(queue.driver.close() == 0)
        } else {
          engine.shutDownAndWait(deadline: .zero)
        }
      }
      // Then it waits for no disk: what was written is kept for certain, and the other perhaps
      #expect(disk.isStopped)
      #expect(kept.state == .frozen)
      let error = await asked.end().error
      #expect(error?.code == .engineClosed && error?.sendState == .maybeProcessed)
      fixture.origin.stop()
      disk.goOn()
    }
    try await fixture.expectKept(closes ? 1 : 2)
  }

  @Test func `an equal request that comes while the first is given up is a new one`() async throws {
    let (fixture, disk) = (try FreezingFixture(), StoppedDisk())
    let store = try fixture.open { $0.store.onDisk = { disk.pass() } }
    defer { store.leave() }
    fixture.origin.stop()
    try await fixture.live { engine in
      func letter() -> NetworkOperation {
        engine.letter("/letters").configure { $0.freezing.dedupeKey = "one" }
      }
      let first = letter()
      let ticket = await engine.freeze(first)
      // Given a commit that takes its time
      disk.stop()
      let before = engine.start(engine.letter("/letters"))
      await disk.isMissed()
      // When an equal request comes, and the user of the first one leaves
      let (second, tickets) = (letter(), Journal<FrozenTicket>())
      second.onFrozen { tickets.add($0) }
      engine.enqueue(second)
      first.cancel()
      await engine.settle()
      disk.goOn()
      // Then that one is given up, and this one sent
      #expect(await first.end().code == .cancelled)
      #expect(await until { tickets.count == 1 || second.state == .finished })
      #expect(tickets.entries.map(\.isDuplicate) == [false] && tickets.entries.first?.id != ticket.id)
      try fixture.origin.start()
      engine.thaw()
      #expect(await second.end().text == "taken")
      #expect(await before.end().text == "taken")
    }
  }

  @Test func `nothing is still while a request is on its way`() async throws {
    let fixture = try FreezingFixture()
    fixture.origin.hold("/letters")
    try await fixture.live { engine in
      let sent = engine.letter("/letters")
      _ = await engine.freeze(sent)
      #expect(await fixture.origin.waitForHits("/letters", 1))
      let (still, isStill) = (Journal<Bool>(), Latch())
      engine.freezing?.whenStill {
        still.add(true)
        isStill.open()
      }
      // Turns of the freezer that end with nothing to be written.
      for _ in 0..<3 { _ = await engine.freeze(engine.letter("/letters")) }
      #expect(still.entries.isEmpty)
      fixture.origin.release("/letters")
      await isStill.opened()
      #expect(await sent.end().text == "taken")
    }
  }
}

extension FreezingFixture {
  /// The next engine finds so many that wait, once the last one has left the store.
  fileprivate func expectKept(_ count: Int) async throws {
    try await live { engine in
      #expect(await blocking { engine.flushFrozen(deadline: 30) })
      #expect(engine.frozenOperations.count == count)
    }
  }
}
